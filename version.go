// Package simplex holds the one version number that every part of the project shows.
package simplex

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var version string

// Version is the release as MAJOR.MINOR.PATCH, read from the file VERSION at build time.
func Version() string { return strings.TrimSpace(version) }
