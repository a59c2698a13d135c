"""The tables; importing this package registers all of them."""

from crawler.db.models.archive import LinkCount, Outlink, PageGroup, Snapshot, Text, WordForm
from crawler.db.models.assets import Asset, AssetSighting, AssetVersion
from crawler.db.models.base import Base
from crawler.db.models.changes import SnapshotChange
from crawler.db.models.diagnostics import Diagnostic
from crawler.db.models.domains import DomainGate
from crawler.db.models.evidence import Artifact, Record, WarcFile
from crawler.db.models.hauls import Haul, HaulMember
from crawler.db.models.health import DomainDay
from crawler.db.models.jobs import Job, JobStep, JobWorker, RegisteredSource
from crawler.db.models.listings import Listing, Price
from crawler.db.models.records import AuditEntry, ExportRecord, ScrapeRecord
from crawler.db.models.retention import Hold, RetentionConfig, RetentionResult, StoreMark
from crawler.db.models.runs import CrawlException, Run, RunDenial, RunDomain, RunWorker, Task
from crawler.db.models.sessions import Batch, CrawlLog, CrawlSession, Page

__all__ = [
    "Artifact",
    "Asset",
    "AssetSighting",
    "AssetVersion",
    "AuditEntry",
    "Base",
    "Batch",
    "CrawlException",
    "CrawlLog",
    "CrawlSession",
    "Diagnostic",
    "DomainDay",
    "DomainGate",
    "ExportRecord",
    "Haul",
    "HaulMember",
    "Hold",
    "Job",
    "JobStep",
    "JobWorker",
    "LinkCount",
    "Listing",
    "Outlink",
    "Page",
    "PageGroup",
    "Price",
    "Record",
    "RegisteredSource",
    "RetentionConfig",
    "RetentionResult",
    "Run",
    "RunDenial",
    "RunDomain",
    "RunWorker",
    "ScrapeRecord",
    "Snapshot",
    "SnapshotChange",
    "StoreMark",
    "Task",
    "Text",
    "WarcFile",
    "WordForm",
]
