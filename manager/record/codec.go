package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"simplex/manager/protocol"
)

var (
	// ErrDamaged: the bytes are no record.
	ErrDamaged = errors.New("the record is damaged")
	// ErrVersion: the record may be whole, but is of another version than Version.
	ErrVersion = errors.New("the record has a version that this program does not know")
)

const (
	sumHead = `,"sum":"`
	sumTail = "\"}\n"

	begin = `{"version":1,` // how Encode begins
)

// Encode gives the file's bytes: one JSON object on one line whose last member is
// the SHA-256 of everything before it.
func Encode(r *Record) ([]byte, error) {
	body, err := r.marshal()
	if err != nil {
		return nil, err
	}
	return seal(body), nil
}

// seal closes an object that lacks its closing brace.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	out := append(bytes.Clone(body), sumHead...)
	out = hex.AppendEncode(out, sum[:])
	return append(out, sumTail...)
}

// Decode reads a record's bytes. Errors wrap ErrDamaged or ErrVersion and quote nothing.
func Decode(raw []byte) (*Record, error) {
	if !bytes.HasPrefix(raw, []byte(begin)) {
		if err := checkVersion(raw); err != nil {
			return nil, err
		}
	}
	n := len(sumHead) + sha256.Size*2 + len(sumTail)
	if len(raw) <= n || !bytes.Equal(seal(raw[:len(raw)-n]), raw) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	r := &Record{}
	if err := r.unmarshal(append(raw[:len(raw)-n:len(raw)-n], '}')); err != nil {
		return nil, fmt.Errorf("%w: a member has another type", ErrDamaged)
	}
	if !r.sound() {
		return nil, fmt.Errorf("%w: members are missing or do not fit together", ErrDamaged)
	}
	return r, nil
}

// checkVersion looks at a record that does not begin as this program's do.
func checkVersion(raw []byte) error {
	var head struct {
		Version jsontext.Value `json:"version"`
	}
	switch err := json.Unmarshal(raw, &head); {
	case err != nil:
		return fmt.Errorf("%w: no JSON object", ErrDamaged)
	case string(head.Version) == "1":
		return nil
	case head.Version.Kind() == '0' && !bytes.ContainsAny(head.Version, ".eE"):
		return ErrVersion
	}
	return fmt.Errorf("%w: no version", ErrDamaged)
}

// sound tells whether the record has what its status needs and nothing that it forbids.
func (r *Record) sound() bool {
	if !protocol.ValidID(r.AllocationID) || protocol.CheckDirectory(r.Directory, r.AllocationID) != "" {
		return false
	}
	secret := r.Source != nil || r.Overrides != nil || r.Startup != nil || r.ForkRefresh != nil || r.Derived != nil
	if r.Derived != nil && r.Derived.Effective.Kind() != '{' {
		return false
	}
	switch r.Status {
	case Preparing:
		return r.Source != nil && r.Revision == 1 && r.Nonce != "" && r.Startup == nil
	case Ready:
		return r.Source != nil && r.Revision >= 1 && r.Nonce != "" && r.Root != nil &&
			(r.Startup == nil || protocol.ValidID(r.Startup.LifecycleID) && r.Startup.Effective.Kind() == '{')
	case Removing:
		return !secret && r.Nonce != ""
	case Retired:
		return !secret && r.Nonce == "" && r.Root == nil && r.Revision == 0
	}
	return false
}
