#!/bin/sh
# One script, three names: orders.sh, search.sh, foreign.sh.
name=$(basename "$0" .sh)
printf 'Content-Type: text/plain\r\n\r\n'
case $name in
orders) printf 'route=orders\nraw=/v1/orders%s\n' "$PATH_INFO" ;;
search) printf 'route=search\nquery=%s\nref=%s\n' "$QUERY_STRING" "$HTTP_X_REF" ;;
*) printf 'route=foreign %s\n' "$REQUEST_URI" ;;
esac
