"""What the shops sell, by language."""

from crawler.demo.catalogue.every import ASSORTMENTS

__all__ = ["ASSORTMENTS"]
