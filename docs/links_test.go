package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// elsewhere is a section of a document that the repository does not have.
var elsewhere = regexp.MustCompile(`[a-z-]+\.md §`)

// TestPagesStandAlone: comments in the code may name sections of the contract documents,
// pages for people who do not have them must not.
func TestPagesStandAlone(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if found := elsewhere.FindString(string(raw)); found != "" {
			t.Errorf("%s refers to %q: say here what it says there", page, found)
		}
	}
}

// TestLinksLeadSomewhere follows every relative link of README and the pages.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := []string{"../README.md", "../CHANGELOG.md"}
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(append(pages, found...), more...) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
	if links < 15 {
		t.Errorf("only %d links were followed", links)
	}
}
