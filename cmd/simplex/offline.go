package main

import (
	"fmt"
	"os"
	"path/filepath"

	"simplex/load"
	"simplex/load/document"
)

// offlineConfig is the configuration of --offline: that of the file, if one is named,
// with the built-in scripted model in place of whatever model it selects.
func offlineConfig(file, scenario string, opt load.Options) (*load.Config, error) {
	tree, base, err := offlineBase(file)
	if err != nil {
		return nil, err
	}
	model, err := document.ParseYAML("offline", []byte("driver_model: offline\nproviders: {offline: {plugin: offline, model: offline, config: {}}}\n"))
	if err != nil {
		return nil, err
	}
	if scenario != "" {
		settings := model.Root.Get("providers").Get("offline").Get("config")
		settings.Members = []document.Member{{Name: "scenario", Value: &document.Node{Kind: document.KindString, Text: scenario}}}
	}
	members := model.Root.Members
	for _, m := range tree.Root.Members {
		if m.Name != "driver_model" && m.Name != "providers" && m.Name != "modality_assist_model" {
			members = append(members, m)
		}
	}
	opt.BaseDir = base
	return load.FromTree(&document.Tree{Name: tree.Name, Root: &document.Node{Kind: document.KindMapping, Members: members}}, opt)
}

// offlineBase reads the file, or gives an empty document that stands in the working
// directory.
func offlineBase(file string) (*document.Tree, string, error) {
	if file == "" {
		return &document.Tree{Name: "built-in configuration", Root: &document.Node{Kind: document.KindMapping}}, ".", nil
	}
	raw, err := document.Read(file)
	if err != nil {
		return nil, "", fmt.Errorf("configuration: %w", err)
	}
	tree, err := document.ParseYAML(file, raw)
	return tree, filepath.Dir(file), err
}

// processEnv is the environment and installation of this process.
func processEnv() load.Env {
	env := load.Env{Getenv: os.LookupEnv}
	if exe, err := os.Executable(); err == nil {
		env.ExeDir = filepath.Dir(exe)
	}
	return env
}
