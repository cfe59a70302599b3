#!/usr/bin/env python3
"""Mails the result of a study.

    hooks: {study_end: [python3, to_mail.py, me@example.org]}

The server is localhost, or SMTP_HOST and SMTP_PORT say otherwise.
"""

import email.message
import os
import smtplib
import sys

facts = os.environ
message = email.message.EmailMessage()
message["From"] = facts.get("MAIL_FROM", sys.argv[1])
message["To"] = sys.argv[1]
message["Subject"] = f"{facts['BAPI_STUDY']}: {facts.get('BAPI_REASON', facts['BAPI_EVENT'])}"
best = "No trial has reported a value."
if "BAPI_BEST_VALUE" in facts:
    best = (
        f"Best {facts['BAPI_METRIC']}: {facts['BAPI_BEST_VALUE']}, trial {facts['BAPI_BEST_TRIAL']}, "
        f"epoch {facts['BAPI_BEST_EPOCH']}\n{facts['BAPI_BEST_VALUES']}"
    )
message.set_content(f"{best}\nSpent {facts['BAPI_SPENT']} of {facts['BAPI_BUDGET']} {facts['BAPI_UNIT']}\n{facts['BAPI_STUDY_DIR']}\n")
with smtplib.SMTP(facts.get("SMTP_HOST", "localhost"), int(facts.get("SMTP_PORT", "25"))) as server:
    server.send_message(message)
