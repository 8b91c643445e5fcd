"""Creates the development company, and corrects its site's address at every start."""

from memory.application.companies import CompanyRegistry
from memory.domain import demo
from memory.errors import ConflictError, MovedError


async def seed(companies: CompanyRegistry, origin: str | None) -> None:
    """Creates the company `demo`, or updates its site's address; an admin's changes stay. Replicas may race."""
    try:
        settings = await companies.get(demo.COMPANY)
        if settings is None:
            await companies.create(demo.settings(origin))
        elif (patch := demo.moved_site(settings.config, origin)) is not None:
            await companies.patch(demo.COMPANY, settings.version, patch)
    except (ConflictError, MovedError):
        return  # another replica was faster
