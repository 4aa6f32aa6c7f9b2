"""Other ways to draw a problem's inputs. Code that is right only for the numbers that a problem draws, and code that
leaves some of them out, is wrong for one of these.
"""

import torch

# Places that are worked on at once.
PIECE_BITS = 20
# Numbers that are much larger where inputs have spikes, and how much: less where types and functions cannot hold it.
SPIKES, HEIGHTS = 64, (1e6, 1e3, 250.0, 30.0)
# Numbers whose places differ in one bit differ by this factor.
FACTOR = 1.2
# By how much numbers of one size differ from it.
PART = 2.0**-12
# Entries that rounding alone sets apart differ by less than this part of the largest one.
ROUNDING = 1e-5
# The most that a share may become: functions of shares break beyond one, and logarithms at one.
MOST_SHARE = 0.999


def is_mark(flat):
    """Whether numbers are labels or masks, which have no size: only -1, 0 and 1."""
    return all(bool(((part == part.round()) & (part.abs() <= 1)).all()) for part in (flat[:1024], flat))


def larger(tensor):
    tensor.mul_(8)


def spiked(height):
    """A few numbers at random places are so large that every sum without them is wrong."""

    def change(tensor):
        flat = tensor.view(-1)
        places = torch.randint(flat.numel(), (SPIKES,))
        flat[places] = flat[places] * height

    return change


def uneven(tensor):
    """What is usual at a place follows from each bit of its index. So a half of the places, or every second one, says
    nothing about the others."""
    flat = tensor.view(-1)
    bits = max((flat.numel() - 1).bit_length(), 1)
    weights = [0.5 - drawn for drawn in torch.randint(2, (bits,), device="cpu").tolist()]
    low = min(bits, PIECE_BITS)
    table = torch.zeros(1)
    for weight in weights[:low]:
        table = torch.cat([table - weight, table + weight])
    wide = torch.float32 if flat.dtype.itemsize < 4 else flat.dtype
    usual = torch.linalg.vector_norm(flat, dtype=wide).item() / flat.numel() ** 0.5
    # Numbers without a sign, as probabilities are, keep theirs.
    moves = usual if bool((flat < 0).any()) else 0.0
    common = torch.rand((), device="cpu").item() * 2 - 1
    for at, part in enumerate(flat.split(1 << low)):
        above = sum(weight if at >> bit & 1 else -weight for bit, weight in enumerate(weights[low:]))
        place = table[: part.numel()] + above
        # Zeros may be what a problem is about, as in a triangular matrix.
        moved = (part != 0) * (moves * (common + place / bits**0.5))
        part.copy_(part * FACTOR ** (place + 3 * common) + moved)


def partly(tensor):
    """A half of each length, or every second place of it, is as the problem draws it. Code that looks there alone takes
    all for that."""
    chosen = torch.ones((), dtype=torch.bool)
    for dim, length in enumerate(tensor.shape):
        if length > 1:
            steps = [1, 2, max(length // 4, 1), (length + 1) // 2]
            step, side = (torch.randint(count, (), device="cpu").item() for count in (len(steps), 2))
            mask = torch.arange(length) // steps[step] % 2 == side
            chosen = chosen & mask.view([-1] + [1] * (tensor.dim() - dim - 1))
    tensor.copy_(torch.where(chosen, tensor.abs() * 1.5, tensor))


def level(tensor):
    """Numbers of nearly one size: none makes others negligible, not even in a product of all."""
    tensor.copy_(tensor.sign() * (1 + PART * tensor.abs()))


# By name, the changes to try: the first whose results can be compared.
WAYS = {
    "plain": [None],
    "larger": [larger],
    "spiked": [spiked(height) for height in HEIGHTS],
    "uneven": [uneven],
    "partly": [partly],
    "level": [level],
}


def is_symmetric(tensor):
    """Whether matrices equal their transposes. Most are told by the first of them."""
    if tensor.dim() < 2 or not tensor.shape[-1] == tensor.shape[-2] > 1:
        return False
    matrices = tensor.view(-1, *tensor.shape[-2:])
    return all(bool((part - part.mT).abs().max() <= ROUNDING * part.abs().max()) for part in (matrices[:1], matrices))


def is_sorted(tensor):
    """Whether numbers rise along the last dimension."""
    if not tensor.dim() or tensor.shape[-1] < 3:
        return False
    rows = tensor.view(-1, tensor.shape[-1])
    rises = all(bool((part[:, 1:] >= part[:, :-1]).all()) for part in (rows[:1], rows))
    return rises and bool(rows[0, 0] < rows[0, -1])


def alike(tensor, change):
    """Changes numbers that have an order, and leaves them that order: code may rely on it."""
    if is_sorted(tensor):
        change(tensor)
        tensor.copy_(tensor.sort().values)
    elif not is_symmetric(tensor):
        change(tensor)
    elif bool((torch.linalg.cholesky_ex(tensor.double()).info == 0).all()):
        # A positive definite matrix is one still if each row is scaled as its column is.
        sides = torch.ones(tensor.shape[:-1], dtype=tensor.dtype)
        change(sides)
        tensor.mul_(sides.unsqueeze(-1)).mul_(sides.unsqueeze(-2))
    else:
        change(tensor)
        tensor.copy_(tensor.triu() + tensor.triu(1).mT)


def changed(tensor, change):
    """A copy of a tensor, drawn otherwise. One that holds a single number, such as ones, would hide what ignores it."""
    tensor = tensor.contiguous().clone()
    flat = tensor.view(-1)
    if not flat.numel():
        return tensor
    is_constant = bool((flat == flat[0]).all())
    if is_constant:
        flat.add_((torch.rand(flat.shape) - 0.5).to(flat.dtype))
    elif is_mark(flat):
        return tensor
    are_shares = bool((flat >= 0).all() and (flat <= 1).all())
    change(tensor) if is_constant else alike(tensor, change)
    if not are_shares:
        return tensor
    # What is too large everywhere would all become the same.
    is_beyond = bool((tensor > MOST_SHARE).all())
    return tensor.mul_(MOST_SHARE / tensor.max()) if is_beyond else tensor.clamp_(max=MOST_SHARE)
