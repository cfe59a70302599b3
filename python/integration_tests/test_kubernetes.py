"""The manifest of examples/kubernetes against the schemas of Kubernetes, which kubernetes-validate ships."""

import copy
import pathlib

import pytest

kubernetes_validate = pytest.importorskip("kubernetes_validate")
yaml = pytest.importorskip("yaml")

MANIFEST = pathlib.Path(__file__).resolve().parents[2] / "examples/kubernetes/workers.yaml"


def resources():
    """The resources of the manifest, by their kinds."""
    return {resource["kind"]: resource for resource in yaml.safe_load_all(MANIFEST.read_text())}


def validate(resource):
    """Raises if a field is unknown, missing or of another type."""
    kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)


def test_every_resource_is_what_kubernetes_expects():
    assert list(resources()) == ["Secret", "PersistentVolumeClaim", "Job"]
    for resource in resources().values():
        validate(resource)


def test_the_schema_finds_mistakes():
    for path, wrong in [(["spec", "parallelism"], "many"), (["spec", "template", "spec", "container"], [])]:
        job = copy.deepcopy(resources()["Job"])
        inside = job
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = wrong
        with pytest.raises(Exception):
            validate(job)


def test_the_job_is_one_of_workers():
    job = resources()["Job"]["spec"]
    assert job["parallelism"] > 1 and "completions" not in job
    pod = job["template"]["spec"]
    assert pod["restartPolicy"] == "Never", "podFailurePolicy needs it"
    worker = pod["containers"][0]
    assert worker["command"][:2] == ["bapi", "worker"], "process 1 gets the signals"
    assert worker["env"][0]["valueFrom"]["secretKeyRef"]["name"] == resources()["Secret"]["metadata"]["name"]
    containers = pod["containers"] + pod["initContainers"]
    mounted = {mount["name"] for container in containers for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


def test_no_password_is_in_the_url():
    url = resources()["Secret"]["stringData"]["url"]
    assert ":" not in url.partition("://")[2].partition("@")[0] and "sslmode=verify-full" in url
