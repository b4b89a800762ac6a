package load

import (
	"errors"
	"testing"
)

// TestMisspelledKeysExplain shows that a key which is missing under its own name is
// told together with the word that stands there instead.
func TestMisspelledKeysExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, want string }{
		{
			"driver_modle: main\nproviders: {main: {model: x}}\nclient: {endpoint: ws://h}\n",
			"config.yaml: /driver_model: is required\nconfig.yaml:1: /driver_modle: is not a known key; the nearest is /driver_model",
		},
		{
			"driver_model: main\nproviders:\n  main:\n    modle: x\n    endpoint: {base_ulr: y}\nclient: {endpoint: ws://h}\n",
			"config.yaml:4: /providers/main/model: is required\n" +
				"config.yaml:4: /providers/main/modle: is not a known key; the nearest is /providers/main/model\n" +
				"config.yaml:5: /providers/main/endpoint/base_ulr: is not a known key; the nearest is /providers/main/endpoint/base_url",
		},
		{ // in the wrong mapping, too
			"driver_model: main\nproviders:\n  main: {base_ulr: y}\nclient: {endpoint: ws://h}\n",
			"config.yaml:3: /providers/main/model: is required\n" +
				"config.yaml:3: /providers/main/base_ulr: is not a known key; the nearest is /providers/main/endpoint/base_url",
		},
		{ // a rule between values is no other case
			"driver_model: main\nproviders: {main: {model: x}}\nclient: {endpoint: ws://h}\nworker: {auto_compact_threshold: 1}\npersistence: {enabled: false, dir: x}\n",
			"config.yaml:4: /worker/auto_compact_threshold: needs persistence.enabled\n" +
				"config.yaml:5: /persistence/dir: is not a known key; the nearest is /persistence/directory",
		},
	} {
		if _, err := fromText(c.doc, Options{}); err == nil || err.Error() != c.want {
			t.Errorf("got\n%v\nwant\n%s", err, c.want)
		}
	}
}

// TestFault shows where a fault is put that somebody else found in a value.
func TestFault(t *testing.T) {
	t.Parallel()
	cfg, err := fromText(minimal, Options{Env: environment(map[string]string{"MY_KEY": "k"})})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("is no good")
	for path, want := range map[string]string{
		"/providers/main/plugin":         "config.yaml:4: /providers/main/plugin: is no good",
		"/providers/main/endpoint/other": "config.yaml:7: /providers/main/endpoint/other: is no good",
		"/nothing":                       "config.yaml: /nothing: is no good",
	} {
		err := cfg.Fault(path, cause)
		if err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
