package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Sources looks at every file that the program and its images are made of. The cache of
// `go test` knows what a test looks at, not what its children read: without this a change
// of the program alone would leave results in force that it no longer gives. It has to be
// called by a running test, as nothing is recorded before.
func Sources() error { return sources() }

var sources = sync.OnceValue(func() error {
	module, err := moduleRoot()
	if err != nil {
		return err
	}
	return filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since, and not part of the program
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != module && (d.Name() == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".mod", ".sum", ".yaml", ".json", ".sql", ".sh", "":
			_, err = os.Stat(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
})

// moduleRoot is the folder of go.mod, above the one of the tests.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}
