"""What a client of another protocol wishes for one message, in the call of the model."""

from agent.scripted_model.script import ScriptedReply
from agent.testing.scripted_stage import scripted_stage
from contracts.events.chat import Sampling, Wishes
from runtime.testing.servers import NatsServer


async def test_instructions_stand_below_the_companys_prompt_and_the_rest_is_for_this_answer_alone(
    nats_server: NatsServer,
) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(text="Arr.")) as (scene, model):
        await scene.configure(custom_system_prompt="You sell boats.", temperature=0.7, max_response_tokens=500)
        drawn = Sampling(top_p=0.5, seed=7)
        wishes = Wishes(instructions="Talk like a pirate.", temperature=0.1, max_tokens=50, sampling=drawn)
        await scene.visitor("c1", "hi", wishes=wishes)
        await scene.answered("c1")
        await scene.visitor("c1", "and now?")
        await scene.answered("c1", 2)
    first, second = model.asked
    prompt = first["messages"][0]["content"]
    assert prompt.index("You sell boats.") < prompt.index("Talk like a pirate.")
    assert (first["temperature"], first["max_tokens"]) == (0.1, 50)
    assert (first["top_p"], first["seed"]) == (0.5, 7)
    assert not {"top_p", "seed"} & second.keys()
    assert "pirate" not in second["messages"][0]["content"]
    assert (second["temperature"], second["max_tokens"]) == (0.7, 500)
