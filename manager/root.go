package manager

import (
	"simplex/internal/safepath"
	"simplex/manager/record"
	"simplex/manager/reference"
)

// presence of the root, as plan needs it.
type presence int

const (
	rootAbsent presence = iota
	rootOurs
	rootForeign
)

func identify(info safepath.Info) *record.RootID {
	return &record.RootID{Dev: info.Dev, Ino: info.Ino, Born: info.Born}
}

// findRoot tells whether the directory there is the one that was prepared: the same
// inode, or one whose reference carries the record's nonce. A read error is an error and
// never "not ours".
func (s *session) findRoot() (presence, error) {
	info, err := s.rootInfo()
	if err != nil || info == nil {
		return rootAbsent, err
	}
	if !info.Directory() || s.rec == nil {
		return rootForeign, nil
	}
	if s.rec.Root != nil && *identify(*info) == *s.rec.Root {
		return rootOurs, nil
	}
	dir, err := s.parent.Dir(s.id(), safepath.Search)
	if err != nil {
		return rootForeign, err
	}
	defer dir.Close()
	ref, err := reference.Read(dir)
	if err != nil {
		return rootForeign, err
	}
	if ref != nil && ref.Nonce == s.rec.Nonce && s.rec.Nonce != "" {
		return rootOurs, nil
	}
	return rootForeign, nil
}
