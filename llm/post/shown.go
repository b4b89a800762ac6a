package post

import (
	"net/url"
	"slices"
	"strings"
)

// hidden stands for a part of a path that is not shown.
const hidden = "…"

// usual are the words of which the paths of model servers are made.
func usual() []string {
	return []string{
		"anthropic", "api", "api-version", "azure", "beta", "chat", "compatible-mode", "completions", "deployments", "engines",
		"generate", "inference", "latest", "messages", "models", "openai", "projects", "publishers", "responses", "serve",
	}
}

// shownURL is the URL without userinfo, query and fragment, as an error may tell it. Some
// gateways want a key in the path, so only usual words of it are shown, their beginnings
// (a word cut short is a usual mistake), and versions such as v1.
func shownURL(u *url.URL) string {
	parts := strings.Split(u.EscapedPath(), "/")
	for i, part := range parts {
		if !harmless(part) {
			parts[i] = hidden
		}
	}
	return u.Scheme + "://" + u.Host + strings.Join(parts, "/")
}

func harmless(part string) bool {
	if rest, ok := strings.CutPrefix(part, "v"); ok && len(rest) > 0 && len(rest) <= 2 && strings.Trim(rest, "0123456789") == "" {
		return true
	}
	return part == "" || part == "v1beta" || slices.ContainsFunc(usual(), func(word string) bool { return strings.HasPrefix(word, part) })
}
