-- The journal, schema 1. Times are venue time in milliseconds; u64 values are kept in their two's complement.
-- `record`, `attempt`, `fill` and `halt` are the JSON of surefill-core's types; columns beside them are what queries need.

CREATE TABLE meta (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    made_at  INTEGER NOT NULL,              -- wall clock
    touched  INTEGER NOT NULL               -- written only so that a sync follows
) STRICT;

-- Venues, accounts, symbols and strategies by number.
CREATE TABLE words (
    n    INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;

-- Decides whether an intent is new. `seq` counts orders in the order of their commits.
CREATE TABLE ids (
    id  BLOB PRIMARY KEY,
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Open, with fills owed, or watched: all that a restart must find, with the first attempt and the first log row inside.
CREATE TABLE live (
    seq        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL,
    venue      INTEGER NOT NULL,
    account    INTEGER NOT NULL,
    symbol     INTEGER NOT NULL,
    strategy   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT NOT NULL,
    attempt    TEXT NOT NULL,
    wire       BLOB NOT NULL,
    entry      TEXT NOT NULL
) STRICT;

-- All others.
CREATE TABLE orders (
    seq        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL,
    venue      INTEGER NOT NULL,
    account    INTEGER NOT NULL,
    symbol     INTEGER NOT NULL,
    strategy   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    record     TEXT NOT NULL,
    attempt    TEXT NOT NULL,
    wire       BLOB NOT NULL,
    entry      TEXT NOT NULL
) STRICT;
CREATE INDEX orders_created ON orders (created_at);

-- Attempts from the second on.
CREATE TABLE attempts (
    seq     INTEGER NOT NULL,
    no      INTEGER NOT NULL,
    attempt TEXT NOT NULL,
    wire    BLOB NOT NULL,
    PRIMARY KEY (seq, no)
) STRICT, WITHOUT ROWID;

-- Append-only: the log from the second row on.
CREATE TABLE transitions (
    seq        INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    from_state TEXT NOT NULL,
    to_state   TEXT NOT NULL,
    cause      TEXT NOT NULL,
    evidence   TEXT NOT NULL,
    PRIMARY KEY (seq, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE fills (
    seq      INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    account  INTEGER NOT NULL,
    symbol   INTEGER NOT NULL,
    order_id TEXT NOT NULL,
    exec_id  TEXT NOT NULL,
    fill     TEXT NOT NULL,
    PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX fills_once ON fills (account, symbol, order_id, exec_id);

-- What the venue knows an order by: kind 0 is a key of an attempt, kind 1 the venue's own order id.
CREATE TABLE keys (
    venue INTEGER NOT NULL,
    kind  INTEGER NOT NULL,
    key   TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (venue, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE halts (
    n    INTEGER PRIMARY KEY,
    halt TEXT NOT NULL
) STRICT;

-- Append-only: who lifted which halt, and why.
CREATE TABLE lifts (
    n      INTEGER PRIMARY KEY,
    halt   TEXT NOT NULL,
    who    TEXT NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT;

CREATE TABLE nonces (
    scope TEXT PRIMARY KEY,
    next  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bindings (
    alias   TEXT PRIMARY KEY,
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
    alias TEXT PRIMARY KEY,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    scope TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Requests of other processes to the engine that holds the journal. Their numbers are never reused.
CREATE TABLE inbox (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL,
    answer  TEXT
) STRICT;

-- The engine asks several times a second; answered requests stay.
CREATE INDEX inbox_waiting ON inbox (n) WHERE answer IS NULL;
