"""Files of conversations: how a message refers to them, and their keys in the object storage.

files/<company>/<conversation>/<file>                  a file
unsent/<day>/<company>/<conversation>/<file>           empty: the file was taken in on that day, and no message has
                                                       been seen to name it yet
"""

from datetime import UTC, datetime

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import Id, check_company, check_id

MAX_FILES = 5
"""The maximum number of files in one message."""
MAX_FILES_PER_CONVERSATION = 100
"""The maximum number of files in one conversation."""
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_FILE_NAME = 120


class FileRef(Wire):
    """A message's reference to a file, without the content. `type` is the content's real type; `hash`: its sha256 in
    hexadecimal."""

    id: Id
    name: str = Field(min_length=1, max_length=MAX_FILE_NAME)
    type: str = Field(max_length=100)
    size: int = Field(ge=1)
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")


def folder_of(company: str, conversation: str | None = None) -> str:
    """Returns the key prefix of a company's or a conversation's files."""
    company_folder = f"files/{check_company(company)}/"
    return company_folder if conversation is None else f"{company_folder}{check_id(conversation)}/"


def file_key(company: str, conversation: str, file: str) -> str:
    return folder_of(company, conversation) + check_id(file)


UNSENT = "unsent/"


def unsent_key(company: str, conversation: str, file: str) -> str:
    """Returns the key that marks a file which no message names yet."""
    day = uploaded_at(file).date().isoformat()
    return f"{UNSENT}{day}/{check_company(company)}/{check_id(conversation)}/{check_id(file)}"


def uploaded_at(file: str) -> datetime:
    """Returns when a file was uploaded, from its id, a UUIDv7. Raises ValueError for any other id."""
    return datetime.fromtimestamp(int(file.replace("-", "")[:12], 16) / 1000, UTC)
