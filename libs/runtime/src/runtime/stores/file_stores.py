"""Creates the object storage that the settings name."""

from pathlib import Path

from runtime.clock import Clock
from runtime.errors import NotReadyError
from runtime.settings import FileSettings
from runtime.stores.file_store import FileStore
from runtime.stores.folder_store import FolderStore
from runtime.stores.s3_signature import S3Key


def file_store(settings: FileSettings, clock: Clock) -> FileStore | None:
    """Returns the object storage; None if none is set, so files are refused. Raises NotReadyError if its key is
    missing, or the folder cannot be created."""
    if settings.url is None:
        return None
    if not settings.url.startswith("s3://"):
        try:
            Path(settings.url).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise NotReadyError(f"NEXUS_FILES_URL={settings.url} is no folder: {error.strerror}") from error
        return FolderStore(Path(settings.url))
    if settings.key is None or settings.secret is None:
        raise NotReadyError("NEXUS_FILES_URL names a bucket: set NEXUS_FILES_KEY and NEXUS_FILES_SECRET too")
    from runtime.stores.s3_store import S3Store

    key = S3Key(settings.key, settings.secret.get_secret_value(), settings.region)
    return S3Store(settings.endpoint, settings.url.removeprefix("s3://").strip("/"), key, clock)
