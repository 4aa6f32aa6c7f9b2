"""Parts of `lease`: plan (what), drive (when), table (what came of it), pack (what is carried home)."""
