"""What of a picture is shown to a model."""

import hashlib
from base64 import b64encode

from agent.domain.pictures import is_whole
from contracts.files import FileRef

CONTENT = b"a picture of some length"
FILE = FileRef(id="f1", name="a.png", type="image/png", size=24, hash=hashlib.sha256(CONTENT).hexdigest())


def encoded(*pieces: bytes) -> str:
    return "".join(b64encode(piece).decode() for piece in pieces)


def test_a_picture_whose_pieces_were_cut_short_is_no_picture() -> None:
    assert is_whole(FILE, encoded(CONTENT[:9], CONTENT[9:]))
    assert not is_whole(FILE, encoded(CONTENT[:7], CONTENT[9:]))
    assert not is_whole(FILE, encoded(CONTENT[:9]))
    assert not is_whole(FILE, encoded(CONTENT)[:-3])
