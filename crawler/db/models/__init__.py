"""The tables; importing this package registers all of them."""

from crawler.db.models.base import Base
from crawler.db.models.domains import DomainGate
from crawler.db.models.evidence import Artifact
from crawler.db.models.sessions import Batch, CrawlLog, CrawlSession, Page

__all__ = ["Artifact", "Base", "Batch", "CrawlLog", "CrawlSession", "DomainGate", "Page"]
