package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// manPage is the manual in roff, from what --help says.
func manPage(app *cli.App) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH SIMPLEX 1 \"\" \"simplex %s\"\n.SH NAME\n%s \\- %s\n", app.Version, app.Name, roff(app.Usage))
	out.WriteString(".SH SYNOPSIS\n.B simplex\n.I COMMAND\n[OPTIONS]\n.SH COMMANDS\n")
	for _, command := range app.Commands {
		if !command.Hidden {
			describe(&out, command, command.Name)
		}
	}
	for _, section := range manSections {
		fmt.Fprintf(&out, ".SH %s\n", section.title)
		for _, item := range section.items {
			fmt.Fprintf(&out, ".TP\n.B %s\n%s\n", roff(item[0]), roff(item[1]))
		}
	}
	return out.String()
}

// manSections are what --help does not say.
var manSections = []struct {
	title string
	items [][2]string
}{
	{"EXIT STATUS", [][2]string{
		{"0", "after an orderly end; of run also after the first signal"},
		{"1", "after a reported failure; of chat also when a run failed that --prompt or a pipe asked for, or a signal came before its end"},
		{"2", "for wrong usage; of manage 1, in the response"},
		{"128 + n", "when a second signal n ended it at once"},
	}},
	{"FILES", [][2]string{
		{"config.yaml", "the configuration, where --config names no other"},
		{"data/session", "persistence.directory, where the configuration names no other: relative to the configuration file, or to the working directory of a chat without one"},
		{"state/state.json, state/state.db", "below it: the session, with persistence.format json or sqlite"},
		{"memory/", "below it: the archives of compactions"},
		{"session.lock", "below it: held by the worker; never stale, never removed"},
		{"prompts/", "beside the program: the prompts that a configuration may name; the default ones are built in, too"},
	}},
	{"ENVIRONMENT", [][2]string{
		{"${NAME} in a configuration", "the variable NAME, in auth.api_key and the values of extra_headers; unset or empty is an error"},
		{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "as everywhere, for the calls of models"},
		{"SIMPLEX_TOOL_EXTENSION_SCHEMA_DIR, SIMPLEX_LOOP_EXTENSION_SCHEMA_DIR", "directories with the settings of plugins, NAME/config.yaml each"},
		{"SIMPLEX_LOOP_HOOK_SCHEMA_DIR", "the same for the built-in hook context_statistic"},
		{"SIMPLEX_PROCESS_SCHEMA_DIR, SIMPLEX_READING_SCHEMA_DIR and so on", "a directory of tool declarations to read instead of the built-in ones"},
	}},
	{"EXAMPLES", [][2]string{
		{"simplex chat --offline", "a conversation with the built-in scripted model"},
		{"simplex chat -c model.yaml --approve -p - <question.txt >answer.txt", "one prompt of many lines, one answer"},
		{"simplex run -c config.yaml -s work-1 --log-format json", "a worker for a Hub"},
		{"simplex state settle -c config.yaml -s work-1 --result 'it ran once; the file is there'", "after a kill -9 while a tool ran"},
	}},
}

func describe(out *strings.Builder, command *cli.Command, name string) {
	fmt.Fprintf(out, ".SS simplex %s\n%s\n", roff(name), roff(command.Usage))
	if command.Description != "" {
		fmt.Fprintf(out, ".PP\n%s\n", roff(command.Description))
	}
	for _, flag := range command.Flags {
		fmt.Fprintf(out, ".TP\n%s\n", roff(strings.Replace(flag.String(), "\t", "\n", 1)))
	}
	for _, sub := range command.Subcommands {
		describe(out, sub, name+" "+sub.Name)
	}
}

// roff keeps text from being taken for requests.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = "\\&" + line
		}
	}
	return strings.Join(lines, "\n")
}
