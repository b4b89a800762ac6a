package manager

import (
	"encoding/json/jsontext"

	"simplex/internal/safepath"
	"simplex/manager/protocol"
)

// recordVersion is the one version of the record that this program reads and writes.
const recordVersion = 1

// maxRecord is far above what requests, which are arguments, can bring into a record.
const maxRecord = 64 << 20

// status is where in its life an allocation is. "" is an allocation without a record.
type status string

// The statuses, in the only order in which they follow one another.
const (
	statusAbsent    status = ""
	statusPreparing status = "preparing"
	statusReady     status = "ready"
	statusRemoving  status = "removing"
	statusRetired   status = "retired"
)

// record is what `.simplex-manager/<id>.json` holds. Records are values: a change makes
// a new one.
type record struct {
	Version      int               `json:"version"`
	AllocationID string            `json:"allocation_id"`
	Directory    string            `json:"directory"`
	Status       status            `json:"status"`
	Nonce        string            `json:"nonce,omitzero"` // also in the reference: proves that a root is ours
	Revision     uint64            `json:"revision,omitzero"`
	Root         *rootID           `json:"root,omitzero"` // since the root is in place
	Source       *string           `json:"source,omitzero"`
	Overrides    *protocol.Refresh `json:"overrides,omitzero"`
	Startup      *startup          `json:"startup,omitzero"`
	ForkOrigin   *protocol.Source  `json:"fork_origin,omitzero"`
	ForkRefresh  *protocol.Refresh `json:"fork_refresh,omitzero"` // as the clean_fork asked for it
	Derived      *document         `json:"derived,omitzero"`      // of source and overrides, so that reading needs no YAML

	// Unknown holds the members of a later program's record of this version.
	Unknown jsontext.Value `json:",embed"`
}

// rootID tells a root from one that was put in its place. The time of creation guards
// against a reused inode number.
type rootID struct {
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	Born int64  `json:"born"`
}

// startup is the configuration that one lifecycle was started with.
type startup struct {
	LifecycleID string         `json:"lifecycle_id"`
	Revision    uint64         `json:"revision"`
	Effective   jsontext.Value `json:"effective_configuration"`
}

func identify(info safepath.Info) *rootID { return &rootID{info.Dev, info.Ino, info.Born} }

// status of a record that may not exist.
func (r *record) status() status {
	if r == nil {
		return statusAbsent
	}
	return r.Status
}

// with gives a changed copy.
func (r record) with(change func(*record)) *record {
	change(&r)
	return &r
}

// overrides is the stored set; an absent one is empty.
func (r *record) overrides() protocol.Refresh {
	if r.Overrides == nil {
		return protocol.Refresh{}
	}
	return *r.Overrides
}

// document is the effective configuration of source and overrides.
func (r *record) document() (*document, error) {
	if r.Derived != nil {
		return r.Derived, nil
	}
	return effective(*r.Source, r.overrides(), r.Directory)
}

// derive fills in what source and overrides come to.
func (r *record) derive() (err error) {
	r.Derived, err = effective(*r.Source, r.overrides(), r.Directory)
	return err
}

// removing is the record without anything but what finishing the removal needs.
func (r *record) removing() *record {
	return &record{
		Version: recordVersion, AllocationID: r.AllocationID, Directory: r.Directory, Status: statusRemoving,
		Nonce: r.Nonce, Revision: r.Revision, Root: r.Root, ForkOrigin: r.ForkOrigin,
	}
}

// retired is the tombstone: identities alone.
func (r *record) retired() *record {
	return &record{
		Version: recordVersion, AllocationID: r.AllocationID, Directory: r.Directory,
		Status: statusRetired, ForkOrigin: r.ForkOrigin,
	}
}
