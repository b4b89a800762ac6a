package table

import (
	"strconv"

	"simplex/persistence/sqlitestore/sqlite"
)

const (
	// Version is the version of the tables below, kept in PRAGMA user_version.
	Version = 1

	// ApplicationID marks the file as ours, in PRAGMA application_id: "SPLX".
	ApplicationID = 0x53504c58

	// pageSize of a new database, in bytes. Every table and index has a page of its own and
	// a save writes whole pages, so SQLite's 4096 would double the size of a short session
	// and triple what a save writes. A database that has another keeps it.
	pageSize = 1024
)

// resultColumns are those of a result, whether it stands in a message or is pending.
const resultColumns = `
  call_type TEXT NOT NULL, call_security TEXT NOT NULL, call_id TEXT NOT NULL, call_name TEXT NOT NULL,
  call_arguments TEXT NOT NULL, call_extras TEXT, call_unknown TEXT,
  output_type TEXT NOT NULL, output_raw TEXT NOT NULL, output_modality TEXT NOT NULL,
  output_extras TEXT, output_unknown TEXT,
  extras TEXT, unknown TEXT`

// schema is drawn in docs/persistence.md. NULL in extras or unknown: the member is unset.
// Counters are unsigned 64-bit numbers kept in SQLite's signed ones.
const schema = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL CHECK (revision > 0), operation_id TEXT NOT NULL, boundary TEXT NOT NULL,
  open INTEGER NOT NULL CHECK (open IN (0, 1, 2)),
  turns INTEGER NOT NULL, messages INTEGER NOT NULL,
  schema_version INTEGER NOT NULL, session_id TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  status TEXT NOT NULL, error TEXT, meta_unknown TEXT,
  heading_level INTEGER NOT NULL, prompt_unknown TEXT,
  extras TEXT, unknown TEXT
) STRICT;
CREATE TABLE prompt_section (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL, title TEXT NOT NULL, stability TEXT NOT NULL, text TEXT NOT NULL, unknown TEXT
) STRICT;
CREATE TABLE tool (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL, description TEXT NOT NULL, argument_schema TEXT NOT NULL, remote_type TEXT, extras TEXT, unknown TEXT
) STRICT;
CREATE TABLE loop (
  id INTEGER PRIMARY KEY CHECK (id = 1) REFERENCES session (id),
  status TEXT NOT NULL, phase TEXT NOT NULL, completed_exchanges INTEGER NOT NULL,
  committed_response_sequence INTEGER NOT NULL, error TEXT NOT NULL, unknown TEXT
) STRICT;
CREATE TABLE pending_result (
  position INTEGER PRIMARY KEY, loop INTEGER NOT NULL DEFAULT 1 CHECK (loop = 1),` + resultColumns + `
) STRICT;
CREATE TABLE turn (
  id INTEGER PRIMARY KEY,
  retain_priority TEXT NOT NULL, extras TEXT, unknown TEXT
) STRICT;
CREATE TABLE step (
  turn INTEGER NOT NULL REFERENCES turn (id) ON DELETE CASCADE, id INTEGER NOT NULL,
  retain_priority TEXT NOT NULL, commit_sequence INTEGER NOT NULL, returns_set INTEGER NOT NULL, extras TEXT, unknown TEXT,
  PRIMARY KEY (turn, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turn (id) ON DELETE CASCADE, step INTEGER, slot INTEGER NOT NULL,
  type TEXT NOT NULL, role TEXT NOT NULL,
  output_is_content INTEGER NOT NULL, calls_set INTEGER NOT NULL,
  prompt INTEGER, generated INTEGER, cache_hit INTEGER, cost_unknown TEXT,
  extras TEXT, unknown TEXT,
  FOREIGN KEY (turn, step) REFERENCES step (turn, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX message_place ON message (turn, step);
CREATE TABLE content (
  id INTEGER PRIMARY KEY,
  message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  place TEXT NOT NULL CHECK (place IN ('content', 'reasoning', 'status')), position INTEGER NOT NULL,
  type TEXT NOT NULL, raw TEXT NOT NULL, modality TEXT NOT NULL, extras TEXT, unknown TEXT
) STRICT;
CREATE UNIQUE INDEX content_place ON content (message, place, position);
CREATE TABLE call (
  message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  type TEXT NOT NULL, security TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, arguments TEXT NOT NULL,
  extras TEXT, unknown TEXT,
  PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE result (
  message INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,` + resultColumns + `
) STRICT;
`

// create makes an empty database of this version.
func create(c *sqlite.Conn) error {
	err := c.Script("PRAGMA page_size = " + strconv.Itoa(pageSize))
	if err == nil {
		err = c.Script("PRAGMA application_id = " + strconv.Itoa(ApplicationID))
	}
	if err == nil {
		err = c.Script("PRAGMA user_version = " + strconv.Itoa(Version))
	}
	if err == nil {
		err = c.Script(schema)
	}
	return err
}

// SetMark is the statement that writes a Mark, as an int64.
const SetMark = "UPDATE session SET open = ?"

// The other statements. Each is prepared at its first use and kept.
const (
	sqlSession = `INSERT OR REPLACE INTO session VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	sqlUpdate  = `UPDATE session SET revision=?, operation_id=?, boundary=?, open=?, turns=?, messages=?,
 schema_version=?, session_id=?, created_at=?, updated_at=?, status=?, error=?, meta_unknown=?,
 heading_level=?, prompt_unknown=?, extras=?, unknown=?`
	sqlSection = "INSERT INTO prompt_section VALUES (?,?,?,?,?,?)"
	sqlTool    = "INSERT INTO tool VALUES (?,?,?,?,?,?,?)"
	sqlLoop    = "INSERT OR REPLACE INTO loop VALUES (1,?,?,?,?,?,?)"
	sqlPending = "INSERT INTO pending_result VALUES (?,1,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"

	sqlTurn       = "INSERT INTO turn VALUES (?,?,?,?)"
	sqlTurnUpdate = "UPDATE turn SET retain_priority=?, extras=?, unknown=? WHERE id=?"
	sqlStep       = "INSERT INTO step VALUES (?,?,?,?,?,?,?)"
	sqlStepUpdate = "UPDATE step SET retain_priority=?, commit_sequence=?, returns_set=?, extras=?, unknown=? WHERE turn=? AND id=?"
	sqlMessage    = "INSERT INTO message VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	sqlContent    = "INSERT INTO content VALUES (NULL,?,?,?,?,?,?,?,?)"
	sqlCall       = "INSERT INTO call VALUES (?,?,?,?,?,?,?,?,?)"
	sqlResult     = "INSERT INTO result VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"

	sqlDropSections = "DELETE FROM prompt_section"
	sqlDropTools    = "DELETE FROM tool"
	sqlDropLoop     = "DELETE FROM loop"
	sqlDropPending  = "DELETE FROM pending_result"
	sqlDropTurns    = "DELETE FROM turn WHERE id BETWEEN ? AND ?"
	sqlDropSteps    = "DELETE FROM step WHERE turn = ? AND id >= ?"
	sqlDropMessages = "DELETE FROM message WHERE id BETWEEN ? AND ?"

	sqlGetSession  = "SELECT revision, operation_id, open, turns, messages, schema_version, session_id, created_at, updated_at, status, error, meta_unknown, heading_level, prompt_unknown, extras, unknown FROM session"
	sqlGetMark     = "SELECT revision, open FROM session"
	sqlGetOwner    = "SELECT session_id FROM session"
	sqlGetSections = "SELECT name, title, stability, text, unknown FROM prompt_section ORDER BY position"
	sqlGetTools    = "SELECT name, description, argument_schema, remote_type, extras, unknown FROM tool ORDER BY position"
	sqlGetLoop     = "SELECT status, phase, completed_exchanges, committed_response_sequence, error, unknown FROM loop"
	sqlGetPending  = "SELECT position, loop, " + resultCodes + " FROM pending_result ORDER BY position"
	sqlGetTurns    = "SELECT id, " + retainCode + ", extras, unknown FROM turn ORDER BY id"
	sqlGetSteps    = "SELECT turn, id, " + retainCode + ", commit_sequence, returns_set, extras, unknown FROM step ORDER BY turn, id"
	sqlGetMessages = "SELECT id, turn, step, slot, " + messageCode + ", role, output_is_content, calls_set, prompt, generated, cache_hit, cost_unknown, extras, unknown FROM message ORDER BY id"
	sqlGetContents = "SELECT message, " + placeCode + ", position, iif(type = 'text', 10, type), raw, iif(modality = 'text', 10, modality), extras, unknown FROM content INDEXED BY content_place ORDER BY message, place, position"
	sqlGetCalls    = "SELECT message, iif(type = 'read_only', 10, type), iif(security = 'default_deny', 10, security), id, name, arguments, extras, unknown FROM call ORDER BY message, position"
	sqlGetResults  = "SELECT message, " + resultCodes + " FROM result ORDER BY message"
)

// Words that stand in every row come out of SQLite as wordCode + their place in the list
// that the reader gives to word: a number costs no allocation, a text costs two.
const (
	wordCode = 10

	retainCode  = "iif(retain_priority = 'normal', 10, retain_priority)"
	messageCode = "CASE type WHEN 'model_response' THEN 11 WHEN 'invoke_return' THEN 12 WHEN 'user_input' THEN 10 ELSE type END"
	placeCode   = "iif(place = 'content', 10, place)"
	resultCodes = "iif(call_type = 'read_only', 10, call_type), iif(call_security = 'default_deny', 10, call_security), " +
		"call_id, call_name, call_arguments, call_extras, call_unknown, iif(output_type = 'text', 10, output_type), output_raw, " +
		"iif(output_modality = 'text', 10, output_modality), output_extras, output_unknown, extras, unknown"
)
