"""einsum as matrix products: two operands at a time, each product a bmm over the letters both keep."""


def einsum_value(emit, subscripts, values, dtype):
    """The value of numpy.einsum(subscripts, *values)."""
    terms, result = parse(subscripts, [len(value.shape) for value in values])
    operands = []
    for letters, value in zip(terms, values):
        operands.append(diagonals(emit, list(letters), emit.cast(value, dtype)))
    while len(operands) > 1:
        (one, left), (other, right) = operands.pop(0), operands.pop(0)
        wanted = set(result).union(*(letters for letters, _ in operands))
        operands.insert(0, product(emit, one, left, other, right, wanted))
    letters, value = total(emit, *operands[0], set(result))
    return emit.permute(value, [letters.index(letter) for letter in result]) if letters else value


def parse(subscripts, ranks):
    """([letters of each operand], letters of the result); ... stands for capital letters of its own."""
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    most = max([rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks) if "..." in term], default=0)
    free = [chr(code) for code in range(0x3B1, 0x3B1 + 24)]  # letters nobody writes
    dots = [free[most - 1 - i] for i in range(most)]
    expanded = []
    for term, rank in zip(terms, ranks):
        count = rank - len(term.replace("...", ""))
        expanded.append(list(term.partition("...")[0]) + (dots[most - count:] if "..." in term else [])
                        + list(term.partition("...")[2]))
    if not arrow:
        every = "".join(terms).replace(".", "")
        result = "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))
        return expanded, dots + list(result)
    head, ellipsis, tail = result.partition("...")
    return expanded, list(head) + (dots if ellipsis else []) + list(tail)


def diagonals(emit, letters, value):
    """A letter that comes twice is a diagonal."""
    while len(set(letters)) < len(letters):
        letter = next(one for one in letters if letters.count(one) > 1)
        first = letters.index(letter)
        second = letters.index(letter, first + 1)
        shape = [size for dim, size in enumerate(value.shape) if dim not in (first, second)] + [value.shape[first]]
        args = {"self": value, "offset": 0, "dim1": first, "dim2": second}
        value = emit.node("diagonal.default", args, (value.dtype, shape))
        letters = [one for dim, one in enumerate(letters) if dim not in (first, second)] + [letter]
    return letters, value


def total(emit, letters, value, wanted):
    """Sums over the letters nobody wants."""
    dims = [dim for dim, letter in enumerate(letters) if letter not in wanted]
    if dims:
        value = emit.reduce("sum.dim_IntList", value, dims, False, value.dtype, dtype=None)
    return [letter for letter in letters if letter in wanted], value


def product(emit, one, left, other, right, wanted):
    one, left = total(emit, one, left, wanted | set(other))
    other, right = total(emit, other, right, wanted | set(one))
    batch = [letter for letter in one if letter in other and letter in wanted]
    inner = [letter for letter in one if letter in other and letter not in wanted]
    rows = [letter for letter in one if letter not in other]
    columns = [letter for letter in other if letter not in one]
    size = {**dict(zip(other, right.shape)), **dict(zip(one, left.shape))}
    size.update((letter, max(left.shape[one.index(letter)], right.shape[other.index(letter)])) for letter in batch + inner)
    if not inner:
        return apart(emit, one, left, other, right, batch + rows + columns)
    left = emit.permute(left, [one.index(letter) for letter in batch + rows + inner])
    right = emit.permute(right, [other.index(letter) for letter in batch + inner + columns])

    def count(letters):
        sizes = 1
        for letter in letters:
            sizes *= size[letter]
        return sizes

    left = emit.view(left, [count(batch), count(rows), count(inner)])
    right = emit.view(right, [count(batch), count(inner), count(columns)])
    if batch:
        made = emit.node("bmm.default", {"self": left, "mat2": right},
                         (left.dtype, [count(batch), count(rows), count(columns)]))
    else:
        made = emit.mm(emit.view(left, left.shape[1:]), emit.view(right, right.shape[1:]))
    letters = batch + rows + columns
    return letters, emit.view(made, [size[letter] for letter in letters])


def apart(emit, one, left, other, right, letters):
    """Nothing is summed: a multiplication that broadcasts."""
    def spread(own, value):
        value = emit.permute(value, [own.index(letter) for letter in letters if letter in own])
        sizes = dict(zip([letter for letter in letters if letter in own], value.shape))
        return emit.view(value, [sizes.get(letter, 1) for letter in letters])
    return letters, emit.binary("mul", spread(one, left), spread(other, right), left.dtype)
