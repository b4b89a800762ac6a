package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"simplex/load"
)

// TestPluginFaultsNameThePlace starts from a whole configuration: what a plugin lacks is
// told with the line of the entry that wants it.
func TestPluginFaultsNameThePlace(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{"p/plugin.yaml": "name: p\nkind: hook\ncommand: c\nevents: [RunFinished]\n"})
	head := "driver_model: m\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h}\nplugins:\n  extensions:\n    loop_hooks:\n      directories: [" + root + "]\n      enable:\n"
	file := filepath.Join(root, "h.yaml")
	for entry, want := range map[string]string{
		"        - name: q\n":                                file + ":9: /plugins/extensions/loop_hooks/enable/0: there is no plugin \"q\": no q/plugin.yaml in " + root + "; found: p",
		"        - name: p\n          config_file: p.yaml\n": file + ":10: /plugins/extensions/loop_hooks/enable/0/config_file: " + filepath.Join(root, "p.yaml") + ": no such file or directory",
	} {
		if err := os.WriteFile(file, []byte(head+entry), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := load.Load(file, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Hooks(cfg.Plugins, load.Env{}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
