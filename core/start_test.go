package core

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/load"
	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
)

// configuration loads a text that stands in a directory of its own.
func configuration(t *testing.T, dir, text string) Config {
	t.Helper()
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := load.Load(file, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Config{SessionID: "s", Worker: cfg}
}

const client = "client: {endpoint: \"ws://127.0.0.1:1/\"}\npersistence: {enabled: false}\n"

// TestFaultsOfTheStartNameTheirPlace shows that what only a plugin can tell has file, line
// and key like everything else that is wrong with a configuration.
func TestFaultsOfTheStartNameTheirPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plugin := filepath.Join(dir, "loop", "journal", "plugin.yaml")
	for path, text := range map[string]string{
		plugin: "name: journal\nkind: hook\ncommand: \"true\"\nevents:\n  - RunFinished\n  - EditOnRunFinish\n",
		filepath.Join(dir, "loop", "lost", "plugin.yaml"): "name: lost\nkind: hook\ncommand: ./nothing\nevents: [RunFinished]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "c.yaml")
	for text, want := range map[string]string{
		"driver_model: m\nproviders:\n  m:\n    plugin: opanai\n    model: x\n":                                      file + `:4: /providers/m/plugin: unknown provider plugin: "opanai"; there are: deepseek, `,
		"driver_model: mine\nproviders:\n  mine:\n    model: x\n":                                                    file + `:4: /providers/mine/plugin: unknown provider plugin: "mine"`,
		"driver_model: m\nproviders:\n  m:\n    plugin: openai-chat\n    model: x\n":                                 file + ":4: /providers/m/endpoint/base_url: is missing",
		"driver_model: m\nproviders:\n  m:\n    plugin: openai\n    model: x\n    endpoint: {base_url: 'h:99999'}\n": file + ":6: /providers/m/endpoint/base_url: must have a port in 1..65535",
		"driver_model: m\nproviders:\n  m: {plugin: offline, model: x, config: {scenrio: text}}\n":                   file + ":3: /providers/m/config/scenrio: is not a setting of the plugin offline; the only one is scenario",
		"driver_model: m\nproviders:\n  m: {plugin: deepseek, model: x, config: {thinking: 5}}\n":                    file + ":3: /providers/m/config/thinking: must be true, false, ",
		"driver_model: m\nproviders: {m: {plugin: offline, model: x}}\nplugins: {extensions: {loop_hooks: {directories: [loop], enable: [{name: journal}]}}}\n": plugin +
			`:6: /events/1: there is no such event: "EditOnRunFinish"; there are: RunStarted, `,
		"driver_model: m\nproviders: {m: {plugin: offline, model: x}}\nplugins: {extensions: {loop_hooks: {directories: [loop], enable: [{name: lost}]}}}\n": file +
			":3: /plugins/extensions/loop_hooks/enable/0: external hook lost: ",
		"driver_model: m\nproviders: {m: {plugin: offline, model: x}}\nsecurity: {sandbox: {filesystem: workspace}}\n": file + ":3: /security/sandbox/filesystem: needs /worker/environment/workspace",
	} {
		_, err := New(configuration(t, dir, text+client))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestASecondStateIsTold opens sessions beside which a conversion left the other format.
func TestASecondStateIsTold(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		jsonstore.Format:   "state.db is there, too, and is not read; state.json counts because persistence.format is json",
		sqlitestore.Format: "state.json is there, too, and is not read; state.db counts because persistence.format is sqlite",
	} {
		dir := t.TempDir()
		text := "driver_model: m\nproviders: {m: {plugin: offline, model: x}}\nclient: {endpoint: \"ws://127.0.0.1:1/\"}\npersistence: {directory: s, format: " + format + "}\n"
		start := func() string {
			var log bytes.Buffer
			cfg := configuration(t, dir, text)
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			app, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := app.session.save(app.session.st, persistence.RunFinished); err != nil {
				t.Error(err)
			}
			if err := app.Close(); err != nil {
				t.Error(err)
			}
			return log.String()
		}
		start()
		if said := start(); strings.Contains(said, "is not read") {
			t.Errorf("%s alone: %s", format, said)
		}
		other := jsonstore.StateFile
		if format == jsonstore.Format {
			other = sqlitestore.StateFile
		}
		if err := os.WriteFile(filepath.Join(dir, "s", "state", other), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if said := start(); strings.Count(said, want) != 1 || !strings.Contains(said, "level=WARN") {
			t.Errorf("%s beside the other: %s", format, said)
		}
	}
}
