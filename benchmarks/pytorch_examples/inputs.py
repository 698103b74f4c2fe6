"""The data that the scripts want, made small: the same numbers in each run."""

from __future__ import annotations

import random
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path
from zlib import compress, crc32

Maker = Callable[[Path, Path], None]
"""Makes data, in the folder above the script's or in the script's own."""

DIGITS = {"train": 256, "t10k": 128}
NODES, WORDS_OF_A_NODE, CLASSES = 1700, 24, 3
VOCABULARY = 40


def mnist(above: Path, _folder: Path) -> None:
    """Digits, in MNIST's own format, where most of the scripts look for them."""
    digits(above / "data")


def mnist_here(_above: Path, folder: Path) -> None:
    """The same in the script's folder."""
    digits(folder / "data")


def digits(root: Path, name: str = "MNIST") -> None:
    """Noise and labels, in MNIST's own format, as a data set of this name below a folder."""
    raw = root / name / "raw"
    raw.mkdir(parents=True)
    numbers = random.Random(1)
    for part, count in DIGITS.items():
        pixels = numbers.randbytes(count * 28 * 28)
        labels = bytes(index % 10 for index in range(count))
        head = struct.pack(">iiii", 0x803, count, 28, 28)
        (raw / f"{part}-images-idx3-ubyte").write_bytes(head + pixels)
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">ii", 0x801, count) + labels)


def results(_above: Path, folder: Path) -> None:
    """The folder in which the script saves pictures, and which it does not make."""
    (folder / "results").mkdir(exist_ok=True)


def cora(above: Path, _folder: Path) -> None:
    """A graph of papers, packed as where it is downloaded from."""
    folder = above / "data" / "cora"
    papers(folder)
    with tarfile.open(above / "data" / "cora.tgz", "w:gz") as archive:
        archive.add(folder, "cora")


def papers(folder: Path) -> None:
    """Papers with words and a class, and which of them cites which, as Cora has them."""
    numbers = random.Random(2)
    folder.mkdir(parents=True, exist_ok=True)
    content = ([str(node), *_words(numbers), f"class{node % CLASSES}"] for node in range(NODES))
    (folder / "cora.content").write_text("\n".join("\t".join(line) for line in content) + "\n")
    # Each edge once: some of them twice would make the sparse sum depend on its order.
    cites = (f"{node}\t{(node * 7 + 3) % NODES}" for node in range(NODES))
    (folder / "cora.cites").write_text("\n".join(cites) + "\n")


def _words(numbers: random.Random) -> list[str]:
    """Which words a paper has; the first one it has in any case."""
    return ["1", *(str(numbers.randrange(2)) for _ in range(WORDS_OF_A_NODE))]


def bsds(_above: Path, folder: Path) -> None:
    """Pictures to enlarge."""
    for part in ("train", "test"):
        for index in range(2):
            _picture(folder / "dataset/BSDS300/images" / part / f"{index}.png", 256, index)


def images(above: Path, _folder: Path) -> None:
    """Pictures in a folder of folders."""
    for index in range(4):
        _picture(above / "data" / "images" / "all" / f"{index}.png", 72, index)


def style(above: Path, _folder: Path) -> None:
    """The picture whose style is learned."""
    _picture(above / "data" / "style.png", 64, 9)


def _picture(path: Path, size: int, seed: int) -> None:
    """A PNG file of noise."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc32(kind + body))

    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = random.Random(seed)
    rows = b"".join(b"\0" + numbers.randbytes(size * 3) for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def text(above: Path, _folder: Path) -> None:
    """A corpus of three files."""
    numbers = random.Random(3)
    folder = above / "data" / "text"
    folder.mkdir(parents=True)
    for part, lines in (("train", 150), ("valid", 30), ("test", 30)):
        sentences = (
            " ".join(f"w{numbers.randrange(VOCABULARY)}" for _ in range(10)) for _ in range(lines)
        )
        (folder / f"{part}.txt").write_text("\n".join(sentences) + "\n")


MAKERS: dict[str, Maker] = {
    maker.__name__: maker for maker in (mnist, mnist_here, results, cora, bsds, images, style, text)
}
