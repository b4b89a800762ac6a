package state

import "strconv"

// maxSessionID bounds a session id, in bytes (worker-data.md §8).
const maxSessionID = 128

// ValidSessionID tells whether id is 1 to 128 of A-Z a-z 0-9 _ - (worker-data.md §8): no
// separator, dot or control character, so it is one harmless file name.
func ValidSessionID(id string) bool {
	if id == "" || len(id) > maxSessionID {
		return false
	}
	for i := range len(id) {
		if !plainByte(id[i]) {
			return false
		}
	}
	return true
}

// plainByte tells whether c needs no escaping in ids, file names and labels.
func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// namelessCall stands for an empty call id.
const namelessCall = "call"

// UniqueCallID makes the id of a proposed call unique in a conversation (worker-data.md §9,
// decision 11): it gives id itself while taken says no, else the first free one of `<id>~2`,
// `<id>~3`… An empty id counts as the word call. taken must not say yes for ever.
//
// The numbering starts at from, or at 2 where from is less; next is from for the same id
// the next time, as long as nothing that was taken becomes free. It saves questions only:
// 0 gives the same ids.
func UniqueCallID(id string, from int, taken func(id string) bool) (unique string, next int) {
	if id == "" {
		id = namelessCall
	}
	if !taken(id) {
		return id, from
	}
	for n := max(from, 2); ; n++ {
		if unique = id + "~" + strconv.Itoa(n); !taken(unique) {
			return unique, n + 1
		}
	}
}
