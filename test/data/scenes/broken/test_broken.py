"""No Python."""

class :
