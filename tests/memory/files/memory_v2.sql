-- A memory file of schema 2, as it was written: an own run, and one that was imported without --trust.
PRAGMA application_id = 1129467441;
PRAGMA user_version = 2;
CREATE TABLE direction (
  name     TEXT NOT NULL PRIMARY KEY,
  intent   TEXT NOT NULL,
  objective TEXT NOT NULL,
  risks    TEXT NOT NULL,
  triggers TEXT NOT NULL,            -- bottleneck classes, separated by blanks
  trusted  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE local (
  direction TEXT NOT NULL,
  name      TEXT NOT NULL,
  pays      TEXT NOT NULL,           -- when it pays
  edit      TEXT NOT NULL,           -- how the program changes
  checks    TEXT NOT NULL,           -- what to verify
  trusted   INTEGER NOT NULL,
  PRIMARY KEY (name, direction)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge (
  origin    TEXT NOT NULL,           -- direction or START
  node      TEXT NOT NULL,           -- direction
  rationale TEXT NOT NULL,
  risk      TEXT NOT NULL,
  applies   TEXT NOT NULL,           -- bottleneck classes, separated by blanks; empty: always
  trusted   INTEGER NOT NULL,
  PRIMARY KEY (origin, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  id       TEXT NOT NULL PRIMARY KEY,
  task     TEXT NOT NULL,
  family   TEXT NOT NULL,
  mode     TEXT NOT NULL,
  device   TEXT NOT NULL,
  target   TEXT NOT NULL,
  seed     INTEGER NOT NULL,
  started  INTEGER NOT NULL,         -- the run's `now`
  finished INTEGER NOT NULL          -- 0 until it ends
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
  id             BLOB NOT NULL PRIMARY KEY,
  run            TEXT NOT NULL,
  number         INTEGER NOT NULL,
  parent         INTEGER NOT NULL,
  task           TEXT NOT NULL,
  family         TEXT NOT NULL,
  features       TEXT NOT NULL,      -- numbers, separated by blanks
  bottleneck     TEXT NOT NULL,
  direction      TEXT NOT NULL,
  local          TEXT NOT NULL,
  direction_1    TEXT NOT NULL,      -- the step before, and the one before that
  direction_2    TEXT NOT NULL,
  local_1        TEXT NOT NULL,
  local_2        TEXT NOT NULL,
  arguments      TEXT NOT NULL,
  argument_class TEXT NOT NULL,
  gain           REAL NOT NULL,
  credit         REAL NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('passed', 'failed', 'host', 'inner')),
  outcome        TEXT NOT NULL,
  certificate    TEXT NOT NULL,
  device         TEXT NOT NULL,
  architecture   TEXT NOT NULL,
  device_kind    TEXT NOT NULL,
  implementer    TEXT NOT NULL,
  program        BLOB NOT NULL,
  trace          BLOB NOT NULL,
  date           INTEGER NOT NULL,
  trusted        INTEGER NOT NULL DEFAULT 1   -- 0: imported
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_run ON evidence (run, number);
CREATE INDEX evidence_date ON evidence (date);

CREATE TABLE decision (
  run      TEXT NOT NULL,
  number   INTEGER NOT NULL,
  document TEXT NOT NULL,            -- JSON
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- A row a visit of a node or edge: what counts, and its rank from the newest.
CREATE VIEW visit AS
  SELECT 'direction' AS part, '' AS origin, direction AS node, 0 AS lag, kind, gain, credit, date, id FROM evidence
  UNION ALL SELECT 'local', '', local, 0, kind, gain, credit, date, id FROM evidence
  UNION ALL SELECT 'direction', direction_1, direction, 1, kind, gain, credit, date, id FROM evidence WHERE direction_1 <> ''
  UNION ALL SELECT 'direction', direction_2, direction, 2, kind, gain, credit, date, id FROM evidence WHERE direction_2 <> ''
  UNION ALL SELECT 'local', local_1, local, 1, kind, gain, credit, date, id FROM evidence WHERE local_1 <> ''
  UNION ALL SELECT 'local', local_2, local, 2, kind, gain, credit, date, id FROM evidence WHERE local_2 <> '';

-- Nodes (origin empty, lag 0) and edges: means are over passed rows; the trend is the mean of the ten newest less that of all.
CREATE VIEW statistics AS
  SELECT part, origin, node, lag, count(*) AS tries, sum(passed) AS passed, count(*) - sum(passed) AS failed,
         sum(passed AND gain > 0) AS improved,
         coalesce(avg(CASE WHEN passed THEN gain END), 0) AS gain_mean,
         coalesce(max(0, avg(CASE WHEN passed THEN gain * gain END) - avg(CASE WHEN passed THEN gain END) * avg(CASE WHEN passed THEN gain END)), 0)
           AS gain_variance,
         coalesce(avg(CASE WHEN passed AND age <= 10 THEN gain END) - avg(CASE WHEN passed THEN gain END), 0) AS gain_trend,
         coalesce(avg(CASE WHEN passed THEN credit END), 0) AS credit_mean
  FROM (SELECT *, kind = 'passed' AS passed,
               row_number() OVER (PARTITION BY part, origin, node, lag, kind ORDER BY date DESC, id) AS age
        FROM visit WHERE kind IN ('passed', 'failed'))
  GROUP BY part, origin, node, lag;

INSERT INTO run VALUES ('run-theirs', 'level1/1_mm', 'product', 'htam', 'cpu 9f', 'host', 7, 1700000000, 1700000100);
INSERT INTO evidence VALUES (x'000102030405060708090a0b0c0d0e0f', 'run-theirs', 3, 1, 'level1/1_mm', 'product', '1 2.5', 'memory', 'fusion', 'operator_fusion',
  'START', '', 'START', '', 'operator_fusion(first=0, second=1)', 'parallel 5', 0.25, 0.5, 'passed', 'ok', 'executed', 'cpu 9f', 'avx512', 'cpu',
  'strategy@47d2882', x'101112131415161718191a1b1c1d1e1f', x'202122232425262728292a2b2c2d2e2f', 1700000042, 0);
INSERT INTO decision VALUES ('run-theirs', 3, '{}');
INSERT INTO run VALUES ('run-own', 'level1/1_mm', 'product', 'htam', 'cpu 9f', 'host', 7, 1700000000, 1700000100);
INSERT INTO evidence VALUES (x'ff0102030405060708090a0b0c0d0e0f', 'run-own', 3, 1, 'level1/1_mm', 'product', '1 2.5', 'memory', 'fusion', 'operator_fusion',
  'START', '', 'START', '', 'operator_fusion(first=0, second=1)', 'parallel 5', 0.25, 0.5, 'passed', 'ok', 'executed', 'cpu 9f', 'avx512', 'cpu',
  'strategy@47d2882', x'101112131415161718191a1b1c1d1e1f', x'202122232425262728292a2b2c2d2e2f', 1700000042, 1);
INSERT INTO decision VALUES ('run-own', 3, '{}');
