"""Headless Chromium, over its debugging pipe: pages at a width, what they ask the network for, what a script on them answers."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def program():
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


class Failed(Exception):
    pass


class Browser:
    """with Browser() as b: b.resize(360, 780); b.open(url); b.run("document.title")"""

    def __init__(self, limit=60):
        self.limit, self.calls, self.requests, self.complaints, self.loaded = limit, 0, [], [], set()

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="tamis-browser-")
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()

        def pipes():  # Chromium reads from 3 and writes to 4
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-background-networking", "--no-first-run",
                 "--disable-component-update", "--disable-dev-shm-usage", "--disable-sync", "--hide-scrollbars", f"--user-data-dir={self.home}"]
        self.process = subprocess.Popen([program(), *flags, "about:blank"], preexec_fn=pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(domain + ".enable")
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (Failed, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.buffer:
            if time.monotonic() > until:
                raise Failed("the browser does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise Failed("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        what, of = message.get("method"), message.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(of["exceptionDetails"].get("exception", {}).get("description") or of["exceptionDetails"]["text"])
        elif what == "Log.entryAdded" and of["entry"]["level"] == "error":
            self.complaints.append(of["entry"]["text"] + " " + of["entry"].get("url", ""))
        elif what == "Page.loadEventFired":
            self.loaded.add(True)

    def call(self, method, session=None, **parameters):
        self.calls += 1
        request = {"id": self.calls, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + self.limit
        while True:
            message = self.message(until)
            if message.get("id") == request["id"]:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)

    def ask(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def resize(self, width, height, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.requests, self.complaints, self.loaded = [], [], set()
        self.ask("Page.navigate", url=url)
        until = time.monotonic() + self.limit
        while not self.loaded:
            self.note(self.message(until))

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait_for(self, script):
        until = time.monotonic() + self.limit
        while not (value := self.run(script)):
            if time.monotonic() > until:
                raise Failed(f"never came true: {script}")
            time.sleep(0.05)
        return value

    def picture(self, path, whole=False):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
