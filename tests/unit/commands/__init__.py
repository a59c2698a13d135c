"""Tests of Scrapy's commands as this project has them."""
