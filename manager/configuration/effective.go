package configuration

import (
	"encoding/json/jsontext"
	"path/filepath"

	"simplex/load/document"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// Of is the effective configuration of a record's source and overrides: the one that is
// kept there, where it is. The record must have a source. Errors are
// invalid_configuration.
func Of(r *record.Record) (*record.Document, error) {
	if r.Derived != nil {
		return r.Derived, nil
	}
	return Effective(*r.Source, r.OverrideSet(), r.Directory)
}

// Derive fills in what a record's source and overrides come to. The record must be new:
// one that others see is never changed. Errors are invalid_configuration.
func Derive(r *record.Record) (err error) {
	r.Derived, err = Effective(*r.Source, r.OverrideSet(), r.Directory)
	return err
}

// Effective applies overrides and the storage root to the source's tree; the text is
// never changed. Errors are invalid_configuration.
func Effective(source string, overrides protocol.Refresh, directory string) (*record.Document, error) {
	tree, err := document.ParseYAML("configuration", []byte(source))
	if err != nil {
		return nil, protocol.NewError(protocol.InvalidConfiguration, err.Error())
	}
	root := tree.Root
	for _, e := range endpoints {
		url := e.override(overrides)
		if url == nil {
			continue
		}
		section := root.At(e.path[:len(e.path)-1]...)
		if e.create && (section == nil || section.Kind == document.KindNull) {
			root = root.WithAt(e.path[:len(e.path)-1], &document.Node{Kind: document.KindMapping})
		} else if section == nil || section.Kind != document.KindMapping {
			continue // not enabled in the source: an override never enables it
		}
		root = root.WithAt(e.path, document.TextNode(*url))
	}
	doc := &record.Document{Backend: "json"}
	if err := storage(doc, root.Get("persistence")); err != nil {
		return nil, protocol.NewError(protocol.InvalidConfiguration, "configuration: persistence"+err.Error())
	}
	root = root.WithAt([]string{"persistence", "directory"}, document.TextNode(directory))
	doc.Effective = jsontext.Value((&document.Tree{Root: root}).JSON().Bytes())
	return doc, nil
}

// Path is where an allocation has its managed reference.
func Path(directory string) string { return filepath.Join(directory, Dir, File) }
