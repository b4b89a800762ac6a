package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"simplex/cmd/simplex/chat"
	"simplex/llm/offline"
	"simplex/load"
	"simplex/wire"
)

func chatCommand() *cli.Command {
	return &cli.Command{
		Name:  "chat",
		Usage: "drive a worker from this terminal",
		Description: "Runs a worker in this process and is its operator: prompts go in, tool calls are shown and\n" +
			"approved here, answers come out on standard output. Ctrl-C cancels a run; a second one leaves.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "configuration `FILE`; client, confirmation and hub_remote_call are filled in"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Value: "chat", Usage: "session `ID`: 1 to 128 of A-Z a-z 0-9 _ -"},
			&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Usage: "answer this one `TEXT` and leave"},
			&cli.BoolFlag{Name: "approve", Usage: "approve every tool call without asking"},
			&cli.BoolFlag{Name: "json", Usage: "write every event as one JSON line on standard output"},
			&cli.GenericFlag{Name: "offline", Value: new(optionalText), Usage: "use the built-in scripted model: no key, no network (--offline or --offline=`SCENARIO`)"},
		}, logFlags()...),
		Action:       runChat,
		OnUsageError: onUsageError,
	}
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

func runChat(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if !wire.ValidSessionID(c.String("session")) {
		return usagef("--session %q: want 1 to 128 characters of A-Z a-z 0-9 _ -", c.String("session"))
	}
	if c.IsSet("prompt") && c.String("prompt") == "" {
		return usagef("--prompt: the text is empty")
	}
	if !c.IsSet("log-level") {
		_ = c.Set("log-level", "warn")
	}
	if err := offline.CheckScenario(c.Generic("offline").(*optionalText).text); err != nil {
		return usagef("--offline: %v", err)
	}
	logger, err := newLogger(c, c.App.ErrWriter)
	if err != nil {
		return err
	}
	env := processEnv()
	worker, err := chatConfig(c, env)
	if err != nil {
		return err
	}
	for _, w := range worker.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "simplex: warning: %s\n", w)
	}
	reaper, release := adoptOrphans(logger)
	defer release()
	return converse(chat.Config{
		Reaper: reaper, SessionID: c.String("session"), Worker: worker, Env: env,
		Prompt: c.String("prompt"), Once: c.IsSet("prompt"), Approve: c.Bool("approve"), JSON: c.Bool("json"),
		Live:   !c.IsSet("prompt") && !c.Bool("json") && term.IsTerminal(int(os.Stdout.Fd())),
		Logger: logger, Stdin: os.Stdin, Terminal: term.IsTerminal(int(os.Stdin.Fd())), Stdout: c.App.Writer, Stderr: c.App.ErrWriter,
	})
}

// chatConfig reads the configuration. Without a file only the offline model is there.
func chatConfig(c *cli.Context, env load.Env) (*load.Config, error) {
	opt := load.Options{Env: env, ClientOptional: true}
	if offline := c.Generic("offline").(*optionalText); offline.set {
		return offlineConfig(c.String("config"), offline.text, opt)
	}
	if c.String("config") == "" {
		return nil, usagef("--config names the model to use; --offline needs none")
	}
	return load.Load(c.String("config"), opt)
}

// converse runs the chat with this process's signals: SIGINT is the operator's, SIGTERM
// and SIGHUP stop in order, and whatever comes after that ends at once.
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
	}, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	err := chat.Run(ctx, cfg)
	if errors.Is(err, chat.ErrNotCompleted) {
		return exitError(exitFailure)
	}
	return err
}
