# A hook that only listens. Its first line holds the settings; a program that reads JSON
# (jq, python3) would look into it, this one looks for one text.
mkdir -p ../../data # beside the sessions; the working directory is that of plugin.yaml
trap '' TERM # at the end the input ends, too: what came before it is still written
read -r hello
greeting=$(printf '%s\n' "$hello" | sed -n 's/.*"greeting":"\([^"\\]*\)".*/\1/p')
echo '{"type":"ready","protocol":1}'
while read -r event; do
	printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "${greeting:-run finished}" >>../../data/journal.txt
done
