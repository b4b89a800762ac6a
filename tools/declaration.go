package tools

import (
	"errors"
	"fmt"
	"strings"

	"simplex/state"
	"simplex/tools/schema"
)

// Declaration is what a tool is known by (§1.3).
type Declaration struct {
	// Name the model calls it by.
	Name string
	// Description for the model, without trailing white space.
	Description string
	// Schema of the arguments, sent to the provider as it is.
	Schema state.Object
	// Config is for building the tool in this host: never shown to the model, never
	// mixed with arguments, never saved. It is always set.
	Config state.Object
	// File it was read from, for messages about Config.
	File string
	// Open lets arguments pass that Schema does not name: the tool judges them itself.
	Open bool
}

// DeclarationError says what is wrong with a declaration, and where.
type DeclarationError struct {
	File   string
	Path   string // as /argument_schema/properties/path/type; / is the whole
	Reason string
}

func (e *DeclarationError) Error() string {
	return fmt.Sprintf("in %s: at %s: %s", e.File, e.Path, e.Reason)
}

// DecodeDeclaration reads a declaration out of one decoded document and checks it
// whole, the argument schema included. Errors are *DeclarationError.
func DecodeDeclaration(file string, doc state.Value) (Declaration, error) {
	d, err := readDeclaration(file, doc)
	if err != nil {
		return Declaration{}, err
	}
	if err := schema.Check(d.Schema); err != nil {
		return Declaration{}, located(file, err)
	}
	return d, nil
}

// readDeclaration does all but look into the schema.
func readDeclaration(file string, doc state.Value) (Declaration, error) {
	at := func(path, reason string) error { return &DeclarationError{file, path, reason} }
	o, err := doc.Object()
	if err != nil {
		return Declaration{}, at("/", "must be a mapping")
	}
	d := Declaration{File: file, Config: state.EmptyObject()}
	for _, m := range o.Members() {
		path := "/" + m.Name
		switch m.Name {
		case "name", "description":
			s, ok := m.Value.Text()
			if !ok {
				return Declaration{}, at(path, "must be a string")
			}
			if m.Name == "name" {
				d.Name = s
			} else {
				d.Description = strings.TrimRight(s, " \t\r\n")
			}
		case "argument_schema", "config":
			part, err := m.Value.Object()
			if err != nil {
				return Declaration{}, at(path, "must be a mapping")
			}
			if m.Name == "config" {
				d.Config = part
			} else {
				d.Schema = part
			}
		}
	}
	switch {
	case d.Name == "":
		return Declaration{}, at("/name", "is required and must not be empty")
	case d.Description == "":
		return Declaration{}, at("/description", "is required and must not be empty")
	case !d.Schema.IsSet():
		return Declaration{}, at("/argument_schema", "is required")
	}
	return d, nil
}

// Offer is the tool as the model is told of it.
func (d Declaration) Offer() state.Tool {
	return state.Tool{Name: d.Name, Description: d.Description, ArgumentSchema: d.Schema}
}

// Arguments lists the argument names, in byte order.
func (d Declaration) Arguments() []string {
	v, _ := d.Schema.Get("properties")
	props, err := v.Object()
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range props.Members() {
		names = append(names, m.Name)
	}
	return names
}

// RefuseConfig is for a tool that has nothing to configure: it refuses a config
// that says something.
func (d Declaration) RefuseConfig() error {
	if members := d.Config.Members(); len(members) > 0 {
		return d.ConfigError(members[0].Name, "this tool takes no configuration")
	}
	return nil
}

// ConfigError reports a config field by its place, never by its value.
func (d Declaration) ConfigError(field, reason string) error {
	return &DeclarationError{File: d.File, Path: "/config/" + field, Reason: reason}
}

// located puts the file into an error of the schema check.
func located(file string, err error) error {
	if se, ok := errors.AsType[*schema.Error](err); ok {
		return &DeclarationError{File: file, Path: "/argument_schema" + se.Path, Reason: se.Reason}
	}
	return &DeclarationError{File: file, Path: "/argument_schema", Reason: err.Error()}
}
