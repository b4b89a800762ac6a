package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"simplex/cmd/simplex/chat"
	"simplex/llm/offline"
	"simplex/load"
	"simplex/manager"
	"simplex/wire"
)

func chatCommand() *cli.Command {
	return &cli.Command{
		Name:  "chat",
		Usage: "drive a worker from this terminal",
		Description: "Runs a worker in this process and is its operator: prompts go in, tool calls are shown and\n" +
			"approved here, answers come out on standard output. Ctrl-C cancels a run; a second one leaves.\n" +
			"Each line of standard input is a prompt. A terminal takes at most 4,095 bytes as one line:\n" +
			"--prompt - is for longer prompts and those of several lines. The exit code is 1 when a run failed\n" +
			"that was asked for by --prompt or from a pipe.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "configuration `FILE`; client, confirmation and hub_remote_call are filled in"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Value: "chat", Usage: "session `ID`: 1 to 128 of A-Z a-z 0-9 _ -"},
			&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Usage: "answer this one `TEXT` and leave; \"-\" is the whole of standard input"},
			&cli.BoolFlag{Name: "approve", Usage: "approve every tool call without asking"},
			&cli.BoolFlag{Name: "json", Usage: "write every event as one JSON line on standard output"},
			offlineFlag{&cli.GenericFlag{Name: "offline", Value: new(optionalText), Usage: "use the built-in scripted model: no key, no network"}},
		}, logFlags("warn")...),
		Action:       withLogger(runChat),
		OnUsageError: onUsageError,
	}
}

// offlineFlag shows in help that its value is optional and where it stands.
type offlineFlag struct{ *cli.GenericFlag }

func (f offlineFlag) String() string { return "--offline[=SCENARIO]\t" + f.Usage }

// Values are the scenarios, without those words behind a colon that are free.
func (f offlineFlag) Values() []string {
	var out []string
	for _, s := range offline.Scenarios() {
		name, _, _ := strings.Cut(s.Name, ":")
		out = append(out, name)
	}
	return out
}

// optionalText is a flag that may stand alone or carry a value behind "=".
type optionalText struct {
	set  bool
	text string
}

func (o *optionalText) String() string {
	if o == nil {
		return ""
	}
	return o.text
}

// IsBoolFlag lets the flag stand alone.
func (o *optionalText) IsBoolFlag() bool { return true }

// Set takes the value; standing alone it is "true".
func (o *optionalText) Set(s string) error {
	o.set, o.text = true, s
	if s == "true" {
		o.text = ""
	}
	return nil
}

func runChat(c *cli.Context, logger *slog.Logger) error {
	if err := checkChat(c); err != nil {
		return err
	}
	return chatWith(c, logger)
}

func checkChat(c *cli.Context) error {
	scenario := c.Generic("offline").(*optionalText)
	if word := c.Args().First(); word != "" && scenario.set && scenario.text == "" && offline.CheckScenario(word) == nil {
		return usagef("unexpected argument %q; did you mean --offline=%s?", word, word)
	}
	if err := noArguments(c); err != nil {
		return err
	}
	if err := checkSession(c); err != nil {
		return err
	}
	if c.IsSet("prompt") && c.String("prompt") == "" {
		return usagef("--prompt: the text is empty")
	}
	if err := offline.CheckScenario(scenario.text); err != nil {
		return usagef("--offline: %v", err)
	}
	return nil
}

func chatWith(c *cli.Context, logger *slog.Logger) error {
	env := processEnv()
	worker, err := chatConfig(c, env, logger)
	if err != nil {
		return err
	}
	warn(worker, logger)
	cfg := chat.Config{
		SessionID: c.String("session"), Worker: worker, StateFile: stateFile(worker.Persistence), Settle: settleCommand(c), Env: env,
		Prompt: c.String("prompt"), Once: c.IsSet("prompt"), Approve: c.Bool("approve"), JSON: c.Bool("json"),
		Live:   !c.IsSet("prompt") && !c.Bool("json") && term.IsTerminal(int(os.Stdout.Fd())),
		Logger: logger, Stdin: os.Stdin, Terminal: term.IsTerminal(int(os.Stdin.Fd())), Stdout: c.App.Writer, Stderr: c.App.ErrWriter,
	}
	if cfg.Once && cfg.Prompt == "-" {
		if cfg.Prompt, err = wholePrompt(os.Stdin); err != nil {
			return err
		}
		cfg.Stdin, cfg.Terminal = strings.NewReader(""), false
	}
	reaper, release := adoptOrphans(logger)
	defer release()
	cfg.Reaper = reaper
	return converse(cfg)
}

// settleCommand is the command for the session that this one has, as it is typed.
func settleCommand(c *cli.Context) string {
	out := "simplex state settle"
	if c.Generic("offline").(*optionalText).set {
		out += " --offline"
	}
	if file := c.String("config"); file != "" {
		out += " --config '" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	}
	return out + " --session " + c.String("session")
}

// wholePrompt reads one prompt of any number of lines, and no further than what could be
// sent. The line end at its end is not the prompt's.
func wholePrompt(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, wire.MaxInbound+1))
	if err != nil {
		return "", fmt.Errorf("--prompt -: %w", err)
	}
	if len(raw) > wire.MaxInbound {
		return "", fmt.Errorf("the prompt is too large: it has more than %d bytes", wire.MaxInbound)
	}
	prompt := strings.TrimRight(string(raw), "\r\n")
	if strings.TrimSpace(prompt) == "" {
		return "", usagef("--prompt -: standard input is empty")
	}
	return prompt, nil
}

// chatConfig reads the configuration. Without a file only the offline model is there.
func chatConfig(c *cli.Context, env load.Env, logger *slog.Logger) (*load.Config, error) {
	file := c.String("config")
	if err := refuseManaged(file, logger); err != nil {
		return nil, err
	}
	opt := load.Options{Env: env, ClientOptional: true}
	if offline := c.Generic("offline").(*optionalText); offline.set {
		return offlineConfig(file, offline.text, opt)
	}
	if file == "" {
		return nil, usagef("--config names the model to use; --offline needs none")
	}
	return load.Load(file, opt)
}

// refuseManaged keeps chat out of allocations: theirs is the Hub that prepared them, whose
// endpoints a chat would replace by its own.
func refuseManaged(file string, logger *slog.Logger) error {
	if file == "" {
		return nil
	}
	managed, err := resolve(file, logger)
	if managed != nil {
		_ = managed.Lease.Close()
	}
	if managed != nil || errors.Is(err, manager.ErrNotResolved) {
		return fmt.Errorf("%s is the reference of a managed allocation, whose worker belongs to a Hub: "+
			"start it with `simplex run`, or chat with a configuration of your own", file)
	}
	return nil // what else is wrong with the file is told when it is read
}

// converse runs the chat with this process's signals: SIGINT is the operator's, SIGTERM,
// SIGHUP and SIGQUIT (Ctrl-\) stop in order, and whatever comes after that ends at once.
func converse(cfg chat.Config) error {
	var abort atomic.Pointer[func()]
	cfg.Started = func(f func()) { abort.Store(&f) }
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	cfg.Interrupts = interrupts
	ctx, release := stopSignals(context.Background(), func() {
		if f := abort.Load(); f != nil {
			(*f)()
		}
	}, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer release()
	err := chat.Run(ctx, cfg)
	if errors.Is(err, chat.ErrNotCompleted) {
		return exitError(exitFailure)
	}
	return err
}
