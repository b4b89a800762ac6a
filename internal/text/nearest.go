package text

import "strings"

// maxWord bounds the words compared, in bytes: a longer one is no typing mistake.
const maxWord = 64

// Nearest is the candidate that word was most likely meant to be, for "did you mean".
// Case does not count. Two neighbouring letters exchanged are one mistake; one mistake
// is allowed for each three letters of word, but always one. Of equally near candidates
// the first is taken. It is false where none is near enough or word is one of them.
func Nearest(word string, candidates []string) (string, bool) {
	if len(word) == 0 || len(word) > maxWord {
		return "", false
	}
	lower := []rune(strings.ToLower(word))
	best, limit := "", max(1, len(lower)/3)+1
	for _, c := range candidates {
		if c == word {
			return "", false
		}
		if len(c) == 0 || len(c) > maxWord {
			continue
		}
		if d := distance(lower, []rune(strings.ToLower(c))); d < limit {
			best, limit = c, d
		}
	}
	return best, best != ""
}

// distance is the number of insertions, deletions, replacements and exchanges of
// neighbours that lead from a to b (optimal string alignment), with three rows.
func distance(a, b []rune) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
