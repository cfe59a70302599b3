# A study in a directory of its own, with a training program that needs a shell alone. Ends with exit code 0 if it finds
# what it should. Sourced with $bapi set.
folder=$(mktemp -d)
cd "$folder"
cat > train.sh <<'END'
epoch=0
[ ! -f "$BAPI_CHECKPOINT_DIR/epoch" ] || epoch=$(cat "$BAPI_CHECKPOINT_DIR/epoch")
while [ "$epoch" -lt "$BAPI_MAX_EPOCH" ]; do
  epoch=$((epoch + 1))
  echo "$epoch" > "$BAPI_CHECKPOINT_DIR/epoch"
  echo "bapi: {\"epoch\": $epoch, \"score\": $(($1 * epoch))}"
done
END
cat > study.yaml <<'END'
name: shell
command: [sh, train.sh, "${x}"]
metric: {name: score, goal: maximize}
budget: 40 epochs
epochs: 5
parameters:
  x: {min: 1, max: 9, type: int}
END
"$bapi" run study.yaml --quiet > /dev/null
"$bapi" status shell | grep -q "40 of 40 epochs spent"
"$bapi" best shell > /dev/null
"$bapi" export shell -f html --out shell.html
grep -q "</html>" shell.html
"$bapi" dashboard --port 0 --read-only --no-token > address 2> /dev/null &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s address ] || sleep 0.5; done
kill -INT $server
grep -q "^http://" address
cd /
rm -rf "$folder"
