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


def is_mark(flat):
    """Whether numbers are labels or masks, which have no size: only -1, 0 and 1."""
    return all(bool(((part == part.round()) & (part.abs() <= 1)).all()) for part in (flat[:1024], flat))


def larger(flat):
    flat.mul_(8)


def spiked(height):
    """A few numbers at random places are so large that every sum without them is wrong."""

    def change(flat):
        places = torch.randint(flat.numel(), (SPIKES,))
        flat[places] = flat[places] * height

    return change


def uneven(flat):
    """What is usual at a place follows from each bit of its index. So a half of the places, or every second one of them,
    says nothing about the others."""
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
        part.copy_(part * FACTOR**place + moved)


def level(flat):
    """Numbers of nearly one size: none makes others negligible, not even in a product of all."""
    flat.copy_(flat.sign() * (1 + PART * flat.abs()))


# By name, the changes to try: the first whose results can be compared.
WAYS = {
    "plain": [None],
    "larger": [larger],
    "spiked": [spiked(height) for height in HEIGHTS],
    "uneven": [uneven],
    "level": [level],
}


def changed(tensor, change):
    """A copy of a tensor, drawn otherwise. One that holds a single number, such as ones, would hide what ignores it."""
    tensor = tensor.contiguous().clone()
    flat = tensor.view(-1)
    if not flat.numel():
        return tensor
    if bool((flat == flat[0]).all()):
        flat.add_((torch.rand(flat.shape) - 0.5).to(flat.dtype))
    elif is_mark(flat):
        return tensor
    change(flat)
    return tensor
