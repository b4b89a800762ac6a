package replay

import "simplex/state"

// IDs hands out call ids that are unique in a conversation (§9, 11), and remembers
// which items were sent. It can go back to an earlier size.
type IDs struct {
	used map[string]struct{}
	log  []string
	more map[string]struct{} // of a fork: taken on top of used
}

func newIDs() *IDs { return &IDs{used: map[string]struct{}{}} }

// fork gives a set that knows what s knows and leaves s as it is. s must not change
// while the fork is in use.
func (s *IDs) fork() *IDs {
	return &IDs{used: s.used, more: map[string]struct{}{}}
}

func (s *IDs) len() int { return len(s.log) }

func (s *IDs) truncate(n int) {
	for _, id := range s.log[n:] {
		delete(s.used, id)
	}
	s.log = s.log[:n]
}

// Take gives the id that a call of that id gets, and takes it (state.UniqueCallID).
func (s *IDs) Take(id string) string {
	// Ids become free again, so there is no place to go on from.
	unique, _ := state.UniqueCallID(id, 0, s.has)
	s.put(unique)
	return unique
}

// Claim tells whether an item of that id comes for the first time. Items and calls
// are told apart; an empty id is always free.
func (s *IDs) Claim(item string) bool {
	if item == "" {
		return true
	}
	key := "item\x00" + item
	if s.has(key) {
		return false
	}
	s.put(key)
	return true
}

func (s *IDs) put(key string) {
	if s.more != nil {
		s.more[key] = struct{}{}
		return
	}
	s.used[key] = struct{}{}
	s.log = append(s.log, key)
}

func (s *IDs) has(id string) bool {
	_, used := s.used[id]
	_, more := s.more[id]
	return used || more
}
