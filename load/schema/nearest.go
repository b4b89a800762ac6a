package schema

import "strings"

// Nearest guesses which key of a table was meant by name, found in the mapping that the
// table calls pattern and the document path: the most similar key of that mapping,
// or, when nothing here resembles it, the key elsewhere that does. It gives a slash path,
// "" where the table has nothing similar.
func Nearest(table []Key, name, pattern, path string) string {
	here, at := -1, ""
	similar := len(name) / 3
	there, elsewhere := similar+1, ""
	for i := range table {
		k := &table[i]
		if k.Type == Refused {
			continue
		}
		if sibling, ok := k.In(pattern); ok {
			if d := unlike(name, sibling); here < 0 || d < here {
				here, at = d, path+"/"+sibling
			}
			continue
		}
		if d := distance(strings.ToLower(name), k.Path[strings.LastIndexByte(k.Path, '/')+1:]); d < there {
			there, elsewhere = d, placed(k, pattern, path)
		}
	}
	if elsewhere != "" && here > similar {
		return elsewhere
	}
	return at
}

// placed is the path of a key, with the names of the document as far as they are known.
func placed(k *Key, pattern, path string) string {
	if below, ok := strings.CutPrefix(k.Path, pattern+"/"); ok {
		return path + "/" + below
	}
	return k.Path
}

// closest is the most similar of the known words, "" where none has half of it.
func closest(name string, known []string) string {
	best, at := len(name)/2+1, ""
	for _, word := range known {
		if d := unlike(name, word); d < best {
			best, at = d, word
		}
	}
	return at
}

// shortestStem is how much of a word has to be written to stand for all of it.
const shortestStem = 3

// unlike tells how far a written word is from a known one: 0 where it is its beginning,
// else the edits between them.
func unlike(written, known string) int {
	written = strings.ToLower(written)
	if len(written) >= shortestStem && strings.HasPrefix(known, written) {
		return 0
	}
	return distance(written, known)
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
