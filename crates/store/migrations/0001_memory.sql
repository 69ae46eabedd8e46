-- The log of changes, read by other processes that use this file. Old rows are pruned.
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    source TEXT NOT NULL,
    principal TEXT NOT NULL,
    -- Empty if too many items changed to log each of them.
    place TEXT NOT NULL,
    item TEXT NOT NULL
);

CREATE TABLE memory_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    principal TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    -- JSON, exactly as the client sent it.
    value TEXT NOT NULL,
    -- A JSON array of strings, sorted.
    tags TEXT NOT NULL,
    size INTEGER NOT NULL,
    -- Milliseconds since the Unix epoch.
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    expires INTEGER,
    UNIQUE (source, principal, namespace, key)
);

CREATE INDEX memory_expiry ON memory_entries (expires) WHERE expires IS NOT NULL;

-- How much each principal stores, maintained by the triggers below.
CREATE TABLE memory_usage (
    source TEXT NOT NULL,
    principal TEXT NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (source, principal)
) WITHOUT ROWID;

-- The full-text index; rowid is memory_entries.id.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    key, value, tags,
    content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER memory_added AFTER INSERT ON memory_entries BEGIN
    INSERT INTO memory_usage (source, principal, entries, bytes)
    VALUES (new.source, new.principal, 1, new.size)
    ON CONFLICT (source, principal) DO UPDATE
    SET entries = entries + 1, bytes = bytes + new.size;
END;

CREATE TRIGGER memory_changed AFTER UPDATE OF size ON memory_entries BEGIN
    UPDATE memory_usage SET bytes = bytes - old.size + new.size
    WHERE source = new.source AND principal = new.principal;
END;

CREATE TRIGGER memory_removed AFTER DELETE ON memory_entries BEGIN
    UPDATE memory_usage SET entries = entries - 1, bytes = bytes - old.size
    WHERE source = old.source AND principal = old.principal;
    DELETE FROM memory_words WHERE rowid = old.id;
END;
