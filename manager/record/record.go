package record

import (
	"encoding/json/jsontext"

	"simplex/manager/protocol"
)

// Version is the one version of the record that this program reads and writes.
const Version = 1

// MaxSize, in bytes, is far above what requests, which are arguments, can bring into a
// record.
const MaxSize = 64 << 20

// Suffix follows an allocation's id in the name of its record's file.
const Suffix = ".json"

// Status is where in its life an allocation is. "" is an allocation without a record.
type Status string

// The statuses, in the only order in which they follow one another.
const (
	Absent    Status = ""
	Preparing Status = "preparing"
	Ready     Status = "ready"
	Removing  Status = "removing"
	Retired   Status = "retired"
)

// Record is what `.simplex-manager/<id>.json` holds. Records are values: a change makes
// a new one.
type Record struct {
	Version      int               `json:"version"`
	AllocationID string            `json:"allocation_id"`
	Directory    string            `json:"directory"`
	Status       Status            `json:"status"`
	Nonce        string            `json:"nonce,omitzero"` // also in the reference: proves that a root is ours
	Revision     uint64            `json:"revision,omitzero"`
	Root         *RootID           `json:"root,omitzero"` // since the root is in place
	Source       *string           `json:"source,omitzero"`
	Overrides    *protocol.Refresh `json:"overrides,omitzero"`
	Startup      *Startup          `json:"startup,omitzero"`
	ForkOrigin   *protocol.Source  `json:"fork_origin,omitzero"`
	ForkRefresh  *protocol.Refresh `json:"fork_refresh,omitzero"` // as the clean_fork asked for it
	Derived      *Document         `json:"derived,omitzero"`      // of source and overrides, so that reading needs no YAML

	// Unknown holds the members of a later program's record of this version.
	Unknown jsontext.Value `json:",embed"`
}

// RootID tells a root from one that was put in its place. The time of creation guards
// against a reused inode number.
type RootID struct {
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	Born int64  `json:"born"`
}

// Startup is the configuration that one lifecycle was started with.
type Startup struct {
	LifecycleID string         `json:"lifecycle_id"`
	Revision    uint64         `json:"revision"`
	Effective   jsontext.Value `json:"effective_configuration"`
}

// Document is an effective configuration and where it keeps its storage.
type Document struct {
	Effective jsontext.Value `json:"effective_configuration"` // a JSON object with sorted keys
	Backend   string         `json:"backend"`                 // json or sqlite
	State     string         `json:"state"`                   // below the root, normalized
	Memory    string         `json:"memory"`
}

// StatusOf a record that may not exist.
func StatusOf(r *Record) Status {
	if r == nil {
		return Absent
	}
	return r.Status
}

// With gives a changed copy.
func (r Record) With(change func(*Record)) *Record {
	change(&r)
	return &r
}

// OverrideSet is the stored set; an absent one is empty.
func (r *Record) OverrideSet() protocol.Refresh {
	if r.Overrides == nil {
		return protocol.Refresh{}
	}
	return *r.Overrides
}

// Removing is the record without anything but what finishing the removal needs.
func (r *Record) Removing() *Record {
	return &Record{
		Version: Version, AllocationID: r.AllocationID, Directory: r.Directory, Status: Removing,
		Nonce: r.Nonce, Revision: r.Revision, Root: r.Root, ForkOrigin: r.ForkOrigin,
	}
}

// Retired is the tombstone: identities alone.
func (r *Record) Retired() *Record {
	return &Record{
		Version: Version, AllocationID: r.AllocationID, Directory: r.Directory,
		Status: Retired, ForkOrigin: r.ForkOrigin,
	}
}
