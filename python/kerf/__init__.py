"""What kerf runs in the user's own interpreter: the reference of a task.

Standard library plus the task's framework only, Python 3.9 or later. The files are embedded in the kerf binary.
"""
