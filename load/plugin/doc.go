// Package plugin finds and reads what stands beside the worker's configuration and
// belongs to one component: the descriptors of the enabled plugins, and the `config.yaml`
// of plugins and of the intrinsic loop hook.
//
// It owns the form and the defaults of a descriptor, the places where descriptors and
// configuration files are looked for, and the environment that a plugin's program gets.
//
// It refuses to start anything or to look at a program on disk. Which loop events and
// which tools of a server exist is the caller's knowledge.
//
// Invariants: only directories that are configured are searched, one level deep, and only
// descriptors of enabled plugins are opened; unknown keys are errors; a plugin never
// raises its own trust: a tool is trusted only where the host's configuration says so; an
// error names the descriptor's line, or the entry of the configuration that wants it.
//
// All functions are safe for concurrent use.
package plugin
