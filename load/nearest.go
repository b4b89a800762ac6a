package load

import "strings"

// nearest guesses which known key was meant by name, found in the mapping that the
// table calls pattern and the document path: the most similar key of that mapping,
// or the key of this very name elsewhere when nothing here resembles it.
func nearest(name, pattern, path string) string {
	best, at, elsewhere := -1, "", ""
	for i := range keys {
		k := &keys[i]
		if k.Type == TypeRefused {
			continue
		}
		sibling, ok := k.in(pattern)
		if !ok {
			if elsewhere == "" && strings.HasSuffix(k.Path, "/"+name) {
				elsewhere = k.Path
			}
			continue
		}
		if d := distance(strings.ToLower(name), sibling); best < 0 || d < best {
			best, at = d, path+"/"+sibling
		}
	}
	if elsewhere != "" && best > len(name)/3 {
		return elsewhere
	}
	return at
}

// distance counts the single-byte edits between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
