#!/bin/bash
# The smallest trainer: a shell script that reports with the program itself.
state="$BAPI_CHECKPOINT_DIR/epoch"
for ((epoch = BAPI_FROM_EPOCH + 1; epoch <= BAPI_MAX_EPOCH; ++epoch)); do
  echo "$epoch" > "$state"
  "$BAPI" report epoch="$epoch" accuracy="0.$epoch" || exit 1
done
