"""PostgreSQL packs long texts and their words with LZ4 where it has that: a tenth of the time."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Pack what is written from now on so; a server that was built without LZ4 goes on as before."""
    if op.get_bind().dialect.name == "sqlite":
        return
    op.execute("""DO $$ BEGIN
        ALTER TABLE texts ALTER COLUMN body SET COMPRESSION lz4;
        ALTER TABLE text_words ALTER COLUMN words SET COMPRESSION lz4;
        EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'LZ4 is not to be had: %', SQLERRM; END $$""")
