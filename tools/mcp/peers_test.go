package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simplex/state"
	"simplex/tools/mcp"
)

// peers are the reference servers, fetched once for all tests.
func peers(t *testing.T) (bin string) {
	t.Helper()
	if os.Getenv("SIMPLEX_PEERS") != "1" {
		t.Skip("set SIMPLEX_PEERS=1 to fetch servers from npm and test against them")
	}
	if dir := os.Getenv("SIMPLEX_PEERS_NPM"); dir != "" {
		return filepath.Join(dir, "node_modules", ".bin")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir,
		"@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

func peerConfig(t *testing.T, program string, args ...string) mcp.Config {
	cfg := config(t, "")
	cfg.Command, cfg.Args = program, args
	cfg.Environment = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cfg.WorkingDirectory}
	cfg.Version = "test"
	return cfg
}

func TestReferenceServers(t *testing.T) {
	bin := peers(t)
	t.Run("everything", func(t *testing.T) {
		cfg := peerConfig(t, filepath.Join(bin, "mcp-server-everything"), "stdio")
		h := start(t, cfg)
		t.Log("tools:", strings.Join(h.registry.Names(), " "))
		if got := h.call("echo", `{"message":"grüß dich"}`); got != "Echo: grüß dich" {
			t.Errorf("echo: %q", got)
		}
		has(t, h.call("get-sum", `{"a":2,"b":40}`), "42")
		has(t, h.fails("get-sum", `{"a":"two","b":40}`), "number")
		r := h.result("get-tiny-image", `{}`)
		has(t, r.Output.Raw, "[image image/png, ", "kept in the record")
		kept, _ := r.Extras.Get(mcp.ContentExtra)
		has(t, kept.String(), `"modality":"image"`, `"raw":"iVBORw0KGgo`)
		has(t, h.call("get-resource-links", `{}`), "[resource ")
		t.Log(h.call("get-structured-content", `{"location":"New York"}`))
		if got := h.call("get-env", `{}`); strings.Contains(got, "GOTOOLCHAIN") || !strings.Contains(got, "PATH") {
			t.Errorf("environment: %s", got)
		}
	})
	t.Run("filesystem", func(t *testing.T) {
		root := t.TempDir()
		cfg := peerConfig(t, filepath.Join(bin, "mcp-server-filesystem"), root)
		cfg.Prefix = "fs_"
		cfg.Rule = func(name string) mcp.Rule {
			if strings.HasPrefix(name, "list") || strings.HasPrefix(name, "read") || strings.HasPrefix(name, "write") {
				return mcp.Rule{Security: state.Trusted}
			}
			return mcp.Rule{}
		}
		h := start(t, cfg)
		t.Log("tools:", strings.Join(h.registry.Names(), " "))
		file := filepath.Join(root, "note.txt")
		has(t, h.call("fs_write_file", `{"path":"`+file+`","content":"one\ntwo\n"}`), "note.txt")
		if raw, err := os.ReadFile(file); err != nil || string(raw) != "one\ntwo\n" {
			t.Errorf("written: %q, %v", raw, err)
		}
		has(t, h.call("fs_read_text_file", `{"path":"`+file+`"}`), "one\ntwo\n")
		has(t, h.call("fs_list_directory", `{"path":"`+root+`"}`), "note.txt")
		has(t, h.fails("fs_read_text_file", `{"path":"/etc/hostname"}`), "outside allowed directories")
		has(t, h.fails("fs_move_file", `{"source":"a","destination":"b"}`), "security check denied")
	})
}
