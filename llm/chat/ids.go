package chat

import "strconv"

// idSet hands out call ids that are unique in a conversation (§9, 11). It can go back
// to an earlier size.
type idSet struct {
	used map[string]struct{}
	log  []string
	more map[string]struct{} // of a fork: taken on top of used
}

func newIDSet() *idSet { return &idSet{used: map[string]struct{}{}} }

// fork gives a set that knows what s knows and leaves s as it is. s must not change
// while the fork is in use.
func (s *idSet) fork() *idSet {
	return &idSet{used: s.used, more: map[string]struct{}{}}
}

func (s *idSet) len() int { return len(s.log) }

func (s *idSet) truncate(n int) {
	for _, id := range s.log[n:] {
		delete(s.used, id)
	}
	s.log = s.log[:n]
}

// take gives id itself if it is free, else `<id>~2`, `<id>~3`… An empty id counts as
// the word call.
func (s *idSet) take(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; s.has(unique); n++ {
		unique = id + "~" + strconv.Itoa(n)
	}
	if s.more != nil {
		s.more[unique] = struct{}{}
		return unique
	}
	s.used[unique] = struct{}{}
	s.log = append(s.log, unique)
	return unique
}

func (s *idSet) has(id string) bool {
	_, used := s.used[id]
	_, more := s.more[id]
	return used || more
}
