"""What a shop says around its products, in each language that the demo speaks."""

from crawler.demo.wording.every import WORDS
from crawler.demo.wording.words import Words

__all__ = ["WORDS", "Words"]
