//! What the active skills come to: what calls are judged by, and which tools are offered.

use std::sync::Arc;

use podward_model::ToolSpec;
use podward_policy::{KnownTools, Policies, SkillLayer, ToolName};
use podward_skill::WorkflowRecord;
use podward_tools::{Place, Registry};

use crate::history::History;
use crate::skill::{ActiveSkill, ActiveSkills, SkillSource};

/// The lists of the active skills, compiled once each.
pub(crate) struct SkillSets {
    pub(crate) source: Option<Arc<dyn SkillSource>>,
    pub(crate) active: ActiveSkills,
    known: KnownTools,
    workspace: Option<String>,
    /// The rules, without any skill.
    rules: Policies,
    /// What the model is told of while no skill is active.
    offered: Vec<(ToolName, ToolSpec)>,
    layers: Vec<Layer>,
    /// Those of pods above, which this worker never ends.
    inherited: Vec<Arc<SkillLayer>>,
}

/// A skill, and what it lists.
type Layer = (Arc<WorkflowRecord>, Arc<SkillLayer>);

/// What holds under the active skills.
pub(crate) struct InForce {
    pub(crate) layers: Vec<Arc<SkillLayer>>,
    /// The rules and the skills.
    pub(crate) policies: Policies,
    pub(crate) specs: Arc<Vec<ToolSpec>>,
}

impl SkillSets {
    pub(crate) fn new(
        source: Option<Arc<dyn SkillSource>>,
        tools: &Registry,
        offered: Vec<(ToolName, ToolSpec)>,
        place: &Place,
        policies: &Policies,
    ) -> Self {
        Self {
            source,
            active: ActiveSkills::default(),
            known: KnownTools::with(tools.iter().map(|tool| tool.name().clone())),
            workspace: place.workspace.to_str().map(ToOwned::to_owned),
            rules: policies.under([]),
            offered,
            layers: Vec::new(),
            inherited: Vec::new(),
        }
    }

    /// The same under skills that are active in pods above.
    pub(crate) fn under(mut self, records: &[WorkflowRecord]) -> Self {
        let layers = records
            .iter()
            .map(|record| Arc::new(record.layer(&self.known, self.workspace())));
        self.inherited = layers.collect();
        self
    }

    /// The workspace, as instructions name it.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// Brings them to what a history says, and tells those who look at them.
    pub(crate) fn follow(&mut self, history: &History) -> InForce {
        let before = std::mem::take(&mut self.layers);
        let layer = |record: &Arc<WorkflowRecord>| {
            let known = before.iter().find(|(known, _)| known == record);
            known
                .cloned()
                .unwrap_or_else(|| (Arc::clone(record), Arc::new(self.layer(record))))
        };
        self.layers = history.skills().map(layer).collect();
        let active = self.layers.iter().map(|(record, layer)| ActiveSkill {
            record: Arc::clone(record),
            n_tools: layer.restricts().then(|| self.n_tools(layer)),
        });
        self.active.set(active.collect());
        let own = self.layers.iter().map(|(_, layer)| layer);
        let layers: Vec<_> = self.inherited.iter().chain(own).cloned().collect();
        let policies = self.rules.under(layers.iter().cloned());
        let is_restricted = layers.iter().any(|layer| layer.restricts());
        let is_offered = |name: &ToolName| !is_restricted || policies.may_ever_run(name);
        let specs = self.offered.iter().filter(|(name, _)| is_offered(name));
        let specs = specs.map(|(_, spec)| spec.clone()).collect();
        InForce {
            layers,
            policies,
            specs: Arc::new(specs),
        }
    }

    fn layer(&self, record: &WorkflowRecord) -> SkillLayer {
        let layer = record.layer(&self.known, self.workspace());
        let source = self.source.as_ref();
        match source.and_then(|source| source.own_files(record)) {
            Some(files) => layer.with_files(files),
            None => layer,
        }
    }

    fn n_tools(&self, layer: &Arc<SkillLayer>) -> usize {
        let policies = self.rules.under([Arc::clone(layer)]);
        let names = self.offered.iter().map(|(name, _)| name);
        names.filter(|name| policies.may_ever_run(name)).count()
    }
}
