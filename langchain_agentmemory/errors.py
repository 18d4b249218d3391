"""The errors of this package: one small hierarchy; messages say what to do next."""


class MemoryStoreError(Exception):
    """Base of every error that the memory store raises on purpose."""


class MemoryNotFound(MemoryStoreError):
    """No active memory of this user has the given id."""


class MemoryConflict(MemoryStoreError):
    """An update would turn one memory into another that already exists."""


class MemoryLimitExceeded(MemoryStoreError):
    """The user already owns as many memories as the store allows."""


class NotKept(MemoryStoreError):
    """What was asked for is not kept by this store: `soft_delete` is off."""


class InvalidInput(MemoryStoreError, ValueError):
    """An argument cannot be used; nothing was read or written."""


class UserNotResolved(MemoryStoreError, ValueError):
    """No user could be found for this run, or two sources name different users."""


class BackendUnavailable(MemoryStoreError):
    """The engine below the store refused: locked, full, closed, corrupt or foreign."""


class ExtractionFailed(MemoryStoreError):
    """Automatic extraction could not be completed."""
