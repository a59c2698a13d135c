"""An ordinary Scrapy project, to be run plain, with the add-on and with the settings import."""
